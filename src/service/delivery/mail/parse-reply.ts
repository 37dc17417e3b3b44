/** Reads the parts of what a mail server says: its codes, its words, and how long it asks to wait. */

/** `text` has no codes in it and is one line; a code that is not there is null. */
export interface ParsedReply {
  readonly code: number | null;
  readonly enhancedCode: string | null;
  readonly text: string;
}

const ENHANCED = String.raw`[245]\.\d{1,3}\.\d{1,3}`;
/** The code and, directly after it, the enhanced code: `550 5.1.1`, `550-5.1.1`, `550 #5.1.1`, `550 (5.1.1)`. */
const AT_START = new RegExp(String.raw`^\s*(?:([2-5]\d\d)(?![\w.])[-\s:]*)?(?:[#([<]*(${ENHANCED})(?![\w.])[\])>:]*)?`);
/** The form in which a program quotes a reply: `host mx.example.org said: 550 5.1.1 …`, `…: 550-No such user`. */
const QUOTED = new RegExp(String.raw`(?:^|[\s:;>"'([])([45]\d\d)(?:[-\s:]+[#([<]*(${ENHANCED})(?![\w.])|[-\s](?=\D))`);
const DIAGNOSTIC_TYPE = /^\s*(?:smtp|x-[\w-]+|dns|unix|lmtp|x400)\s*;\s*/i;
/** Servers that have no code to give write these into reports, so there they count as none. */
export const EMPTY_IN_REPORTS: ReadonlySet<string> = new Set(["5.0.0", "5.5.0", "4.0.0"]);
/** The words of a reporter for any refusal; where it quotes the reply, the reply's own words say more. */
const GUESSED_STATUS: ReadonlySet<string> = new Set(["5.7.0", "5.7.1"]);

/**
 * Reads a reply of an SMTP dialogue, of one line or several (RFC 5321 §4.2, RFC 2034 §4). Both codes are looked for at
 * the start alone: a number further on may be part of anything.
 */
export function parseReply(reply: string): ParsedReply {
  const [, code, enhancedCode] = AT_START.exec(reply) ?? [];
  return {
    code: code === undefined ? null : Number(code),
    enhancedCode: enhancedCode ?? null,
    text: withoutCodes(reply, code, enhancedCode),
  };
}

/**
 * The reply that a delivery report quotes in its `Diagnostic-Code`. Where that has no enhanced code, or one that says
 * nothing, `Status` takes its place.
 */
export function replyOfReport(report: {
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
  // A report has the lines of a reply one after another, each still with its codes.
  const repeated = code === undefined ? "" : `${code}[- ]`;
  const again = enhancedCode?.replaceAll(".", String.raw`\.`);
  const codes = again === undefined ? repeated : `${repeated}(?:[#(]?${again}[):]?)?`;
  const text = lines.join(" ");
  const plain = codes === "" ? text : text.replaceAll(new RegExp(String.raw`(?<!\S)${codes}(?=\s|$|\D)`, "g"), " ");
  return plain.replaceAll(/\s+/g, " ").trim();
}

/** From a word's start, so that a long one is not looked at again from each of its letters. */
const ADDRESS = /<?(?<![^\s<>@:;,()[\]"'])[^\s<>@:;,()[\]"']+@(?:\[[^\]\s]*\]|[^\s<>@:;,()[\]"']+)>?/g;
const LINK = /\b(?:https?:\/\/|www\.)\S+/gi;
const CODE = /^(?:[2-5]\d\d|[245]\.\d{1,3}\.\d{1,3})$/;

/**
 * A reply in which everything is replaced that differs between two recipients of the same refusal: addresses, links,
 * hosts and ids with digits in them, and the recipient's own name where the server repeats it without its domain. In
 * lower case, so that like refusals compare equal.
 */
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
/** Lower case at its end, since a space is often missing after a full stop. */
const HOST = /\.[a-z]{2,}\.?$/;
const BLOCKLIST = /(?:^|\.)(?:spamhaus|spamcop|sorbs|barracudacentral|senderbase|cloudmark|senderscore)\.[a-z]{2,}\.?$/;

/**
 * The words alone, for the search of phrases: no addresses or punctuation, one space around each word. A host such as
 * `mx-antispam.example.org` says nothing, unless it is a link's or a blocklist's.
 */
export function wordsOf(text: string): string {
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

/** The longest wait that the text names (`300 seconds`, `5 minutes`, `in 00:05:00`), 24 hours at most; null without. */
export function waitIn(text: string): number | null {
  const [, hours, minutes, seconds] = CLOCK_WAIT.exec(text) ?? [];
  const waits = [...text.matchAll(WAIT)].map(
    ([, count, unit = ""]) => Number(count) * (UNIT_SECONDS[unit.toLowerCase()] ?? 0),
  );
  if (hours !== undefined) waits.push(Number(hours) * 3600 + Number(minutes) * 60 + Number(seconds));
  const longest = Math.min(Math.max(0, ...waits), MAX_WAIT_SECONDS);
  return longest === 0 ? null : longest;
}
