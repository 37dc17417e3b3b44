export interface ParsedReply {
  readonly code: number | null;
  readonly enhancedCode: string | null;
  readonly text: string;
}

const ENHANCED = String.raw`[245]\.\d{1,3}\.\d{1,3}`;
/** The code with its enhanced code: `550 5.1.1`, `550-5.1.1`, `550 #5.1.1`, `550 (5.1.1)`. */
const AT_START = new RegExp(String.raw`^\s*(?:([2-5]\d\d)(?![\w.])[-\s:]*)?(?:[#([<]*(${ENHANCED})(?![\w.])[\])>:]*)?`);
/** A quoted reply: `host mx.example.org said: 550 5.1.1 …`, `…: 550-No such user`. */
const QUOTED = new RegExp(String.raw`(?:^|[\s:;>"'([])([45]\d\d)(?:[-\s:]+[#([<]*(${ENHANCED})(?![\w.])|[-\s](?=\D))`);
const DIAGNOSTIC_TYPE = /^\s*(?:smtp|x-[\w-]+|dns|unix|lmtp|x400)\s*;\s*/i;
/** Reporting servers fill in these codes if the rejecting server gave none, so a report ignores them. */
export const EMPTY_IN_REPORTS: ReadonlySet<string> = new Set(["5.0.0", "5.5.0", "4.0.0"]);
/** Generic codes that the reporting server may have filled in, so a quoted reply takes precedence. */
const GUESSED_STATUS: ReadonlySet<string> = new Set(["5.7.0", "5.7.1"]);

/** Looks for codes only at the start of a reply, because a later number can mean anything (RFC 5321 §4.2). */
export function parseReply(reply: string): ParsedReply {
  const [, code, enhancedCode] = AT_START.exec(reply) ?? [];
  return {
    code: code === undefined ? null : Number(code),
    enhancedCode: enhancedCode ?? null,
    text: withoutCodes(reply, code, enhancedCode),
  };
}

/** The reply quoted in `Diagnostic-Code`. If that has no meaningful enhanced code, `Status` supplies it. */
export function reportedReply(report: {
  readonly status: string | null;
  readonly diagnosticCode: string | null;
}): ParsedReply {
  const diagnostic = (report.diagnosticCode ?? "").replace(DIAGNOSTIC_TYPE, "");
  const start = parseReply(diagnostic);
  const [quote, code, quotedEnhanced] = start.code === null ? (QUOTED.exec(diagnostic) ?? []) : [];
  const reply = quote === undefined ? start : parseReply(diagnostic.slice(diagnostic.indexOf(code ?? "")));
  const guessed = reply.code !== null && GUESSED_STATUS.has(report.status ?? "") ? null : report.status;
  const enhanced = [reply.enhancedCode, quotedEnhanced, start.enhancedCode, guessed].filter(
    (candidate) => typeof candidate === "string",
  );
  const usable = enhanced.find((candidate) => !EMPTY_IN_REPORTS.has(candidate));
  return { code: reply.code, enhancedCode: usable ?? enhanced[0] ?? null, text: start.text };
}

function withoutCodes(reply: string, code: string | undefined, enhancedCode: string | undefined): string {
  const lines = reply.split(/[\r\n]+/).map((line) => line.replace(AT_START, ""));
  // A report joins the lines of a reply, and each line repeats the codes.
  const repeated = code === undefined ? "" : `${code}[- ]`;
  const again = enhancedCode?.replaceAll(".", String.raw`\.`);
  const codes = again === undefined ? repeated : `${repeated}(?:[#(]?${again}[):]?)?`;
  const text = lines.join(" ");
  const plain = codes === "" ? text : text.replaceAll(new RegExp(String.raw`(?<!\S)${codes}(?=\s|$|\D)`, "g"), " ");
  return plain.replaceAll(/\s+/g, " ").trim();
}

/** Matches only at the start of a word; otherwise long words would be scanned from every letter. */
const ADDRESS = /<?(?<![^\s<>@:;,()[\]"'])[^\s<>@:;,()[\]"']+@(?:\[[^\]\s]*\]|[^\s<>@:;,()[\]"']+)>?/g;
const LINK = /\b(?:https?:\/\/|www\.)\S+/gi;
const CODE = /^(?:[2-5]\d\d|[245]\.\d{1,3}\.\d{1,3})$/;

/** Replaces whatever differs between two recipients of the same rejection, so that the results compare equal. */
export function maskReply(reply: string, recipient = ""): string {
  const local = recipient.slice(0, Math.max(recipient.lastIndexOf("@"), 0)).toLowerCase();
  return reply
    .replaceAll(LINK, "<link>")
    .replaceAll(ADDRESS, "<address>")
    .toLowerCase()
    .replaceAll(/[^\s()[\]<>"',;:=/-]+/g, (word) => {
      if (local !== "" && word === local) return "<address>";
      return /\d/.test(word) && !CODE.test(word.replace(/\.$/, "")) ? "#" : word;
    })
    .replaceAll(/\s+/g, " ")
    .trim();
}

const LINK_HOST = /\b(?:https?:\/\/|www\.)([\w.-]+)\S*/gi;
const NAME = /[\w.-]+/g;
/** The last label must be in lower case: in `unknown.Please`, only the space after the full stop is missing. */
const HOST = /\.[a-z]{2,}\.?$/;
const BLOCKLIST = /(?:^|\.)(?:spamhaus|spamcop|sorbs|barracudacentral|senderbase|cloudmark|senderscore)\.[a-z]{2,}\.?$/;

/** Prepares text for the phrase search: lower case, single spaces, and no addresses, punctuation or host names. */
export function searchableWords(text: string): string {
  const words = text
    .replaceAll(LINK_HOST, (_, host: string) => ` ${host.replaceAll(".", " ")} `)
    .replaceAll(ADDRESS, " ")
    .replaceAll(NAME, (name) => (HOST.test(name) && !BLOCKLIST.test(name) ? " " : name))
    .toLowerCase()
    .replaceAll(/['’]/g, "");
  return ` ${words.replaceAll(/[^\p{L}\p{M}\p{N}]+/gu, " ").trim()} `;
}

const UNIT_SECONDS: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3600 };
const WAIT = /\b(\d{1,5})\s*(s|m|h)(?:ec(?:ond)?s?|in(?:ute)?s?|(?:ou)?rs?)\b/gi;
const CLOCK_WAIT = /\b(?:in|after|for)\s+(\d{1,2}):(\d\d):(\d\d)\b/i;
const MAX_WAIT_SECONDS = 24 * 3600;

/** The longest delay in the text (`300 seconds`, `5 minutes`, `in 00:05:00`), at most 24 hours, or null. */
export function waitIn(text: string): number | null {
  const [, hours, minutes, seconds] = CLOCK_WAIT.exec(text) ?? [];
  const waits = [...text.matchAll(WAIT)].map(
    ([, count, unit = ""]) => Number(count) * (UNIT_SECONDS[unit.toLowerCase()] ?? 0),
  );
  if (hours !== undefined) waits.push(Number(hours) * 3600 + Number(minutes) * 60 + Number(seconds));
  const longest = Math.min(Math.max(0, ...waits), MAX_WAIT_SECONDS);
  return longest === 0 ? null : longest;
}
