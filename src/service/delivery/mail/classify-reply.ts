/** The reply code decides whether to retry; the enhanced code (RFC 3463) and the text decide who is to blame. */
import { type Meaning, SENDER_STAGES } from "../carrier.ts";
import type { SmtpStage } from "../smtp/smtp-types.ts";
import { EMPTY_IN_REPORTS, waitIn } from "./parse-reply.ts";
import { reasonIn, type ReplyReason } from "./reply-phrases.ts";

/** `report` is a later delivery report, which is treated like a reply to `RCPT TO`. */
export type ReplyStage = SmtpStage | "report";

/** `code` is null if the connection failed without a reply; `text` is then the error's message. */
export interface ServerReply {
  readonly stage: ReplyStage;
  readonly code: number | null;
  readonly enhancedCode: string | null;
  readonly text: string;
}

/** In a report, `retry` means that the server gave up for a temporary reason. */
type Fate = Pick<Meaning, "outcome" | "sender">;

export interface ReplyMeaning extends Meaning {
  readonly reason: ReplyReason;
}

const MESSAGE_STAGES: ReadonlySet<ReplyStage> = new Set(["data", "final-dot"]);
const ADDRESS_CODES: ReadonlySet<string> = new Set(["1.1", "1.2", "1.3", "1.6", "1.10", "2.1"]);
const ADDRESS_REASONS: ReadonlySet<ReplyReason> = new Set(["userunknown", "hostunknown", "moved", "disabled"]);
const SENDER_REASONS: ReadonlySet<ReplyReason> = new Set(["auth", "relay", "sender", "rate", "blocked", "policy"]);
const MESSAGE_REASONS: ReadonlySet<ReplyReason> = new Set(["content", "size", "syntax", "loop"]);
/** Daily quotas last for hours, even if the server suggests less. */
const QUOTA_SECONDS = 4 * 3600;

const ANY = "any";

/** A code's meaning, and the reasons in the text that overrule it. */
interface CodeRule {
  readonly reason: ReplyReason;
  readonly unless: readonly ReplyReason[] | typeof ANY;
}

/** Enhanced codes without their class, because servers write both `550 4.1.1` and `451 5.1.1`. */
const CODE_RULES: Readonly<Record<string, CodeRule>> = {
  "1.1": { reason: "userunknown", unless: ANY },
  "1.2": { reason: "hostunknown", unless: ANY },
  "1.3": { reason: "userunknown", unless: ANY },
  "1.6": { reason: "moved", unless: ANY },
  "1.7": { reason: "sender", unless: [] },
  "1.8": { reason: "sender", unless: [] },
  "1.10": { reason: "hostunknown", unless: ANY },
  "2.1": { reason: "unknown", unless: ANY },
  "2.2": { reason: "full", unless: [] },
  "2.3": { reason: "size", unless: ["full"] },
  "2.121": { reason: "rate", unless: [] },
  "2.122": { reason: "rate", unless: [] },
  "3.4": { reason: "size", unless: ["full"] },
  "3.*": { reason: "system", unless: ANY },
  "4.1": { reason: "network", unless: ANY },
  "4.4": { reason: "network", unless: ["hostunknown", "userunknown"] },
  "4.6": { reason: "loop", unless: [] },
  "4.7": { reason: "expired", unless: ANY },
  "5.0": { reason: "syntax", unless: ["userunknown", "hostunknown", "moved", "disabled"] },
  "5.*": { reason: "syntax", unless: [] },
  "6.*": { reason: "content", unless: [] },
  "7.*": { reason: "policy", unless: ANY },
};
/** Codes that always blame the sender: SPF, DKIM, DMARC, Microsoft's rules and blocklists. */
const SENDER_POLICIES: readonly (readonly [first: number, last: number])[] = [
  [20, 40],
  [509, 509],
  [515, 515],
  [606, 649],
];
/** Microsoft's codes for a recipient who accepts mail only from some senders. */
const RECIPIENT_POLICIES: readonly (readonly [first: number, last: number])[] = [
  [12, 12],
  [124, 136],
  [193, 193],
];

const REPLY_CODES: Readonly<Record<number, ReplyReason>> = {
  500: "syntax",
  501: "syntax",
  502: "syntax",
  503: "syntax",
  504: "syntax",
  530: "auth",
  534: "auth",
  535: "auth",
  538: "auth",
  552: "size",
  555: "syntax",
  556: "hostunknown",
};

/** Codes of Gmail's daily quotas, including the class. */
const QUOTA_CODES: ReadonlySet<string> = new Set(["4.5.3", "4.5.4", "5.4.5"]);

export function classifyReply(reply: ServerReply): ReplyMeaning {
  const detail = addressDetail(reply);
  const reason = findReason(reply, detail);
  const permanent = readClass(reply) === 5;
  const fate = findFate(reply, reason, detail);
  // Without a code, the text is our own error, so a time in it means nothing.
  const asks = fate.outcome === "retry" && (reply.code !== null || reply.stage === "report");
  const asked = asks ? waitIn(reply.text) : null;
  return {
    ...fate,
    backsDomainOff: fate.outcome === "retry" && !permanent && backsDomainOff(reply, reason, detail),
    strike: fate.outcome === "failed" && isStrike(reply, reason, detail),
    needsOthers: fate.sender === "hours" && !SENDER_STAGES.has(reply.stage) && !hasQuotaCode(reply),
    afterSeconds: fate.sender === "hours" ? Math.max(asked ?? 0, QUOTA_SECONDS) : asked,
    reason,
    hasAddressCode: permanent && ADDRESS_CODES.has(detail ?? ""),
  };
}

/** After `DATA`, any rejection may be about the message, unless it names the recipient. */
function isStrike({ stage }: ServerReply, reason: ReplyReason, detail: string | null): boolean {
  if (MESSAGE_REASONS.has(reason)) return true;
  const isRecipients = ADDRESS_REASONS.has(reason) || reason === "restricted" || ADDRESS_CODES.has(detail ?? "");
  return MESSAGE_STAGES.has(stage) && !isRecipients;
}

function hasQuotaCode({ enhancedCode }: ServerReply): boolean {
  return QUOTA_CODES.has(enhancedCode ?? "");
}

/** The reply's code decides. A report without one is as permanent as its status says, or permanent by default. */
function readClass({ stage, code, enhancedCode }: ServerReply): number {
  if (code !== null) return Math.trunc(code / 100);
  if (stage !== "report") return 4;
  return enhancedCode === null ? 5 : Number(enhancedCode.charAt(0));
}

/** The enhanced code without its class, such as `1.1`; null if the code means nothing. */
function addressDetail({ stage, code, enhancedCode }: ServerReply): string | null {
  if (enhancedCode === null || enhancedCode.endsWith(".0.0")) return null;
  if (stage === "report" && EMPTY_IN_REPORTS.has(enhancedCode)) return null;
  const detail = enhancedCode.slice(enhancedCode.indexOf(".") + 1);
  // `550 4.1.1` contradicts itself, so no one is blamed unless the text does so.
  const contradiction = code !== null && code >= 500 && enhancedCode.startsWith("4.") && ADDRESS_CODES.has(detail);
  return contradiction ? null : detail;
}

function findReason(reply: ServerReply, detail: string | null): ReplyReason {
  const { stage, code, text } = reply;
  if (code !== null && code < 400) return "accepted";
  // Before the recipient is named, a quota must be the sender's.
  if (hasQuotaCode(reply) || (SENDER_STAGES.has(stage) && /\bquota\b/i.test(text))) return "quota";
  const fromText = reasonIn(text, ADDRESS_CODES.has(detail ?? ""));
  // Microsoft 365's only wording for "user unknown".
  if (detail === "4.1" && /\baccess denied\b/i.test(text)) return "userunknown";
  if (isPolicy(detail, RECIPIENT_POLICIES)) return "restricted";
  if (isPolicy(detail, SENDER_POLICIES)) return fromText !== null && SENDER_REASONS.has(fromText) ? fromText : "policy";
  const rule = detail === null ? undefined : (CODE_RULES[detail] ?? CODE_RULES[`${detail.split(".")[0]}.*`]);
  if (rule !== undefined) {
    const overruled = fromText !== null && (rule.unless === ANY || rule.unless.includes(fromText));
    return overruled ? fromText : rule.reason;
  }
  if (stage === "auth") return "auth";
  const byCode = code === null ? undefined : REPLY_CODES[code];
  if (byCode === "auth") return byCode;
  if (byCode === "syntax" && (fromText === null || ADDRESS_REASONS.has(fromText))) return byCode;
  const lost = code === null && stage !== "report";
  return fromText ?? byCode ?? (lost ? "network" : "unknown");
}

function isPolicy(detail: string | null, ranges: typeof SENDER_POLICIES): boolean {
  const [subject, number] = (detail ?? "").split(".").map(Number);
  return subject === 7 && ranges.some(([first, last]) => number !== undefined && first <= number && number <= last);
}

/** Codes about the mailbox, such as 4.2.1, report limits that affect only this recipient. */
function isMailboxCode(detail: string | null): boolean {
  return detail?.startsWith("2.") === true;
}

const BREAKER = { outcome: "held", sender: "breaker" } as const;
const HELD_ALONE = { outcome: "held", sender: "none" } as const;
const SENT = { outcome: "sent", sender: "none" } as const;
const BOUNCED = { outcome: "bounced", sender: "none" } as const;
const FAILED = { outcome: "failed", sender: "none" } as const;
const RETRY = { outcome: "retry", sender: "none" } as const;
const BACK_OFF = { outcome: "retry", sender: "back-off" } as const;
const HOURS = { outcome: "retry", sender: "hours" } as const;

function findFate(reply: ServerReply, reason: ReplyReason, detail: string | null): Fate {
  const replyClass = readClass(reply);
  // If a rejection before the final dot has a success code, client and server are out of step, so the sender backs off.
  if (replyClass < 4) return reply.stage === "final-dot" || reply.stage === "report" ? SENT : BACK_OFF;
  if (SENDER_STAGES.has(reply.stage)) return reason === "quota" ? HOURS : senderFate(reply, reason);
  if (hasQuotaCode(reply)) return HOURS;
  if (LIMITS.has(reason) && isMailboxCode(detail)) return RETRY;
  if (reason === "quota" && (replyClass === 4 || !ADDRESS_CODES.has(detail ?? ""))) return HOURS;
  if (replyClass === 4) return reply.code === 421 && !backsDomainOff(reply, reason, detail) ? BACK_OFF : RETRY;
  return MESSAGE_STAGES.has(reply.stage) ? messageFate(reply, reason, detail) : recipientFate(reason, detail);
}

/**
 * Before the recipient is named, a rejection is about the sender, so it doesn't count as one of the message's attempts.
 */
function senderFate(reply: ServerReply, reason: ReplyReason): Fate {
  if (reply.code === null) return reason === "tls" ? BREAKER : BACK_OFF;
  if (reply.stage === "mail-from" && MESSAGE_REASONS.has(reason) && reply.code >= 500) return FAILED;
  // Retrying a wrong password could lock the account.
  if (reply.stage === "auth" && reply.code !== 421) return BREAKER;
  return reply.code >= 500 ? BREAKER : BACK_OFF;
}

function recipientFate(reason: ReplyReason, detail: string | null): Fate {
  // If the enhanced code is about security or the protocol, text about the address proves nothing.
  if (ADDRESS_REASONS.has(reason)) return /^[57]\./.test(detail ?? "") ? FAILED : BOUNCED;
  // "User unknown" and "full" contradict each other, so we believe neither.
  if (reason === "full") return ADDRESS_CODES.has(detail ?? "") ? HELD_ALONE : RETRY;
  if (MESSAGE_REASONS.has(reason)) return FAILED;
  return GIVEN_UP.has(reason) ? FAILED : BREAKER;
}

const GIVEN_UP: ReadonlySet<ReplyReason> = new Set([
  "restricted",
  "vacation",
  "network",
  "system",
  "expired",
  "unknown",
]);
const LIMITS: ReadonlySet<ReplyReason> = new Set(["full", "rate", "quota"]);
/**
 * After `DATA` the server judges the message: a bounce needs both a code and text about the address, and "spam" is
 * about the content.
 */
function messageFate(reply: ServerReply, reason: ReplyReason, detail: string | null): Fate {
  if (ADDRESS_REASONS.has(reason)) {
    const fromText = reasonIn(reply.text, true);
    const proved = ADDRESS_CODES.has(detail ?? "") && fromText !== null && ADDRESS_REASONS.has(fromText);
    return proved ? recipientFate(reason, detail) : FAILED;
  }
  if (reason === "spam" || (reason === "policy" && detail === null)) return FAILED;
  return recipientFate(reason, detail);
}

/** Whether the limit belongs to the recipient's domain, not to the connection. Greylisting delays only one message. */
function backsDomainOff(reply: ServerReply, reason: ReplyReason, detail: string | null): boolean {
  if (SENDER_STAGES.has(reply.stage) || reply.code === null || isMailboxCode(detail)) return false;
  return reason === "rate" || (reply.code === 421 && detail?.startsWith("7.") === true);
}
