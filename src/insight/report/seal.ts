/** The seal by which a report is checked: how to make it again, sums of its rows, and a sum of its own bytes. */
import { createHash } from "node:crypto";
import type { Html } from "../../contract/text/html.ts";
import { lean as html } from "./markup.ts";

export interface ReportMarks {
  /** JSON, as `renderReport` was given it. */
  readonly request: string;
  /** SHA-256 of the rows, and of their ids; hex. */
  readonly rows: string;
  readonly ids: string;
  readonly version: string;
}

const NO_SEAL = "0".repeat(64);
const SEAL = /(<meta name="surveyctl-seal" content=")([0-9a-f]{64})(")/;

export function markHead({ request, rows, ids, version }: ReportMarks): Html {
  return html`<meta name="generator" content="surveyctl ${version}" />
    <meta name="surveyctl-report" content="${request}" />
    <meta name="surveyctl-rows" content="${rows}" />
    <meta name="surveyctl-ids" content="${ids}" />
    <meta name="surveyctl-seal" content="${NO_SEAL}" /> `;
}

/**
 * The id of an answer as a link to its page: the address is no part of what a report says, since it ends after a time.
 */
export function linkedId(text: string, url: string): Html {
  return html`<a class="id" rel="noreferrer" href="${url}">${text}</a>`;
}

/** The text without the sum of its bytes and the addresses of links. */
function contentOf(text: string): string {
  return withSeal(text, NO_SEAL).replace(/(<a class="id" rel="noreferrer" href=")[^"]*"/g, '$1"');
}

/** Puts the sum of the text, made while the seal was zeros, in the place of the zeros. */
export function sealReport(text: string): string {
  return withSeal(text, sha256(text));
}

export function readMarks(text: string): ReportMarks | null {
  const [request, rows, ids, seal] = ["report", "rows", "ids", "seal"].map((name) =>
    unescape(new RegExp(`<meta name="surveyctl-${name}" content="([^"]*)"`).exec(text)?.[1]),
  );
  if (request === undefined || rows === undefined || ids === undefined || seal === undefined) return null;
  const version = /<meta name="generator" content="surveyctl ([^"]*)"/.exec(text)?.[1] ?? "";
  return { request, rows, ids, version };
}

export function isSealed(text: string): boolean {
  const seal = SEAL.exec(text)?.[2];
  return seal === sha256(withSeal(text, NO_SEAL));
}

function withSeal(text: string, seal: string): string {
  return text.replace(SEAL, (_, before: string, _old: string, after: string) => before + seal + after);
}

function unescape(text: string | undefined): string | undefined {
  return text?.replace(/&#(\d+);/g, (_, code: string) => String.fromCharCode(Number(code)));
}

function sha256(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}

export const REPORT_DIFFERENCES = {
  hand: "changed by hand",
  gone: "answers added or gone",
  edited: "answers edited, or the names of the people who gave them",
  version: "the answers are the same, but made by another version of surveyctl",
} as const;

export type ReportDifference = keyof typeof REPORT_DIFFERENCES;

/**
 * Null where the report is the one that the service's rows make; `now` is null where there are none. The seal is asked
 * first, because a report that was changed by hand says nothing about its rows.
 */
export function reportDifference(report: string, now: string | null): ReportDifference | null {
  if (!isSealed(report)) return "hand";
  if (now !== null && contentOf(report) === contentOf(now)) return null;
  const [before, after] = [readMarks(report), now === null ? null : readMarks(now)];
  if (before?.ids !== after?.ids) return "gone";
  if (before?.rows !== after?.rows) return "edited";
  // A seal that fits can be made by hand as well.
  return before?.version === after?.version ? "hand" : "version";
}
