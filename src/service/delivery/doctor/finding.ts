import { domainToASCII } from "node:url";
import type { DkimKey } from "../mail/dkim.ts";
import type { SendRate } from "../carrier.ts";
import type { SmtpServer } from "../smtp/smtp-url.ts";

/** A `warning` can cost some mail, a `problem` will; `skipped` means that it couldn't be checked. */
export type FindingResult = "ok" | "warning" | "problem" | "skipped";

export interface DoctorFinding {
  readonly check: string;
  readonly result: FindingResult;
  readonly detail: string;
  /** The receivers' rule, and how they reject mail that breaks it. */
  readonly rule: string;
}

export interface MailSetup {
  readonly publicUrl: string | null;
  readonly from: string | null;
  readonly bounceAddress: string | null;
  /** Null if no server is set; a sentence if the setting is unusable. */
  readonly server: SmtpServer | string | null;
  readonly certificates: string | null;
  readonly rate: SendRate | null;
  /** Null if the mail server signs; a sentence if the key is unusable. */
  readonly dkim: DkimKey | string | null;
}

export type Reporter = (result: FindingResult, detail: string) => DoctorFinding;

export function createReporter(check: string, rule: string): Reporter {
  return (result, detail) => ({ check, result, detail, rule });
}

export function areAligned(one: string, other: string): boolean {
  return registeredDomain(one) === registeredDomain(other);
}

/** Approximates the registered domain without the public suffix list: `example.com`, `example.co.uk`. */
function registeredDomain(name: string): string {
  const labels = asciiName(name).split(".");
  const [second = "", top = ""] = labels.slice(-2);
  const isRegistry = top.length === 2 && second.length <= 3 && labels.length > 2;
  return labels.slice(isRegistry ? -3 : -2).join(".");
}

export function asciiName(name: string): string {
  return (domainToASCII(name) || name).toLowerCase().replace(/\.$/, "");
}

export function usable<Value extends object>(setting: Value | string | null): Value | null {
  return typeof setting === "string" ? null : setting;
}
