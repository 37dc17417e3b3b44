/** The findings of an examination of the mail settings. */
import { domainToASCII } from "node:url";
import type { DkimKey } from "../mail/dkim.ts";
import type { SendRate } from "../carrier.ts";
import type { SmtpServer } from "../smtp/smtp-url.ts";

/** `warning` may cost some mail, `problem` will; `skipped` could not be examined. */
export type FindingResult = "ok" | "warning" | "problem" | "skipped";

export interface DoctorFinding {
  /** A stable word, for scripts. */
  readonly check: string;
  readonly result: FindingResult;
  readonly detail: string;
  /** Which rule is or would be broken, and the code with which receivers refuse such mail. */
  readonly rule: string;
}

/** The mail settings of a server that may not run, and may not even be able to start with them. */
export interface MailSetup {
  readonly publicUrl: string | null;
  readonly from: string | null;
  readonly bounceAddress: string | null;
  /** Null without one; a sentence when it cannot be used. */
  readonly server: SmtpServer | string | null;
  /** PEM certificates to trust in place of the public ones. */
  readonly certificates: string | null;
  readonly rate: SendRate | null;
  /** Null leaves signing to the server; a sentence when the key cannot be used. */
  readonly dkim: DkimKey | string | null;
}

export type Reporter = (result: FindingResult, detail: string) => DoctorFinding;

/** One check: its findings differ in result and detail alone. */
export function checkOf(check: string, rule: string): Reporter {
  return (result, detail) => ({ check, result, detail, rule });
}

/** True when DMARC takes the domains for one sender's, in its relaxed mode. */
export function areAligned(one: string, other: string): boolean {
  return organizationOf(one) === organizationOf(other);
}

/** The registered domain, near enough without the list of public suffixes: `example.com`, `example.co.uk`. */
function organizationOf(name: string): string {
  const labels = asciiName(name).split(".");
  const [second = "", top = ""] = labels.slice(-2);
  const isRegistry = top.length === 2 && second.length <= 3 && labels.length > 2;
  return labels.slice(isRegistry ? -3 : -2).join(".");
}

/** A name as DNS has it: ASCII, in lower case, without a final dot. */
export function asciiName(name: string): string {
  return (domainToASCII(name) || name).toLowerCase().replace(/\.$/, "");
}

/** The setting itself, where it can be used. */
export function usable<Value extends object>(setting: Value | string | null): Value | null {
  return typeof setting === "string" ? null : setting;
}
