/**
 * The health of a sender, judged by the replies of a mail server or gateway, so that its problems cost a few attempts
 * and no recipient is blamed. Times are Unix milliseconds; states are stored as JSON.
 *
 * | event                   | open    | waiting | probing | stopped |
 * | ----------------------- | ------- | ------- | ------- | ------- |
 * | accepted                | open    |         | open    |         |
 * | back-off, quota         | waiting |         | waiting |         |
 * | refusals in a row       | stopped | stopped | stopped |         |
 * | time of the next probe  |         | probing |         | probing |
 * | resumed by an operator  | open    | open    | open    | open    |
 *
 * Any other answer to a probe, such as a bounce, proves nothing: the next message is the next probe.
 */

import type { Meaning } from "../../delivery/carrier.ts";
import type { ReplyFacts } from "../../domain/delivery/rows.ts";

export interface ServerAnswer extends Meaning {
  /** Identifies the message; null if it was rejected before its recipient was named. */
  readonly message: string | null;
  readonly domain: string;
  readonly text: string;
  readonly said: ReplyFacts;
  readonly maskedText: string;
}

export type SenderEvent =
  /** `epoch` comes from the message's admission. Only for replies of the server or gateway. */
  | { readonly kind: "answer"; readonly answer: ServerAnswer; readonly epoch: number }
  /** An admitted message was withdrawn or couldn't be sent, so nothing was learned. */
  | { readonly kind: "released"; readonly epoch: number }
  | { readonly kind: "probe-due" }
  | { readonly kind: "resume" };

export type SenderHealth = Memory &
  (
    | { readonly mode: "open" }
    | { readonly mode: "waiting"; readonly until: number; readonly trouble: Trouble }
    /** Only one message is sent at a time; `isProbing` is true while it is in flight. */
    | { readonly mode: "probing"; readonly isProbing: boolean; readonly trouble: Trouble }
    /** `until` is null if too many addresses are unknown: there is no probe until an operator resumes sending. */
    | { readonly mode: "stopped"; readonly until: number | null; readonly trouble: Trouble }
  );

interface Memory {
  /** Changes with the mode, so that replies to messages admitted earlier don't affect the new mode. */
  readonly epoch: number;
  /** After this many more refusals, the sender stops. */
  readonly patience: number;
  readonly recent: readonly RecentRecipient[];
  readonly domains: Readonly<Record<string, DomainBackOff>>;
  readonly quotaDomains: readonly string[];
  /** Messages that counted against the sender. Each counts once, so one unusual mailbox can't stop the sender alone. */
  readonly counted: readonly string[];
}

interface Trouble {
  readonly reason: string;
  readonly said: ReplyFacts;
  readonly since: number;
  readonly consecutive: number;
  /** True if the sender has stopped, so messages may be held. */
  readonly hasStopped: boolean;
}

interface RecentRecipient {
  readonly text: string | null;
  readonly hasAddressCode: boolean;
}

interface DomainBackOff {
  readonly until: number;
  readonly consecutive: number;
}

export interface HealthStep {
  readonly state: SenderHealth;
  /**
   * `odd`: the reply says nothing about the sender. `held` and `later`: it may be the sender's fault, so the recipient
   * isn't blamed.
   */
  readonly verdict: "as-said" | "odd" | "held" | "later";
}

export type Admission =
  | { readonly kind: "go"; readonly epoch: number }
  /** `domainUntil` is set if only the message's domain has to wait. */
  | { readonly kind: "wait"; readonly domainUntil: number | null };

const SECOND = 1000;
const BACK_OFF_MIN = 30 * SECOND;
const BACK_OFF_MAX = 15 * 60 * SECOND;
export const PROBE_INTERVAL = 15 * 60 * SECOND;
const QUOTA_WAIT = 4 * 3600 * SECOND;
const QUOTA_DOMAINS_MIN = 3;
const REFUSALS_MAX = 3;
const RECENT_MAX = 50;
const RECENT_MIN = 20;
/** A stopped sender waits again after this many rejected probes; fewer aren't conclusive. */
const PROBES_MAX = RECENT_MIN;
const SAME_WORDS_SHARE = 0.2;
const UNKNOWN_SHARE = 0.3;
const REASON_MAX = 500;
/** Maximum length of `counted`. A message dropped from that list could count again. */
const COUNTED_MAX = 5000;

export const HEALTHY_SENDER: SenderHealth = {
  mode: "open",
  epoch: 0,
  patience: REFUSALS_MAX,
  recent: [],
  domains: {},
  quotaDomains: [],
  counted: [],
};

export function admit(
  before: SenderHealth,
  domain: string,
  now: number,
): { state: SenderHealth; admission: Admission } {
  const state = nextSenderHealth(before, { kind: "probe-due" }, now).state;
  const isSenderWaiting = state.mode === "probing" ? state.isProbing : state.mode !== "open";
  if (isSenderWaiting) return { state, admission: { kind: "wait", domainUntil: null } };
  const slow = state.domains[domain];
  if (slow !== undefined && slow.until > now) return { state, admission: { kind: "wait", domainUntil: slow.until } };
  const admitted = state.mode === "probing" ? { ...state, isProbing: true } : state;
  return { state: admitted, admission: { kind: "go", epoch: state.epoch } };
}

export function nextSenderHealth(state: SenderHealth, event: SenderEvent, now: number): HealthStep {
  if (event.kind === "answer")
    return afterAnswer(endProbe(state, event.epoch), event.answer, event.epoch === state.epoch, now);
  return { state: afterOther(state, event, now), verdict: "as-said" };
}

/** If the process died while a probe was in flight, its result is lost, so another message becomes the probe. */
export function restoreSenderHealth(stored: SenderHealth): SenderHealth {
  return { ...endProbe(stored, stored.epoch), epoch: stored.epoch + 1 };
}

export function hasStopped(state: SenderHealth): boolean {
  return state.mode !== "open" && state.trouble.hasStopped;
}

export function needsAnswer(state: SenderHealth): boolean {
  return state.mode === "stopped" && state.until === null;
}

function afterOther(state: SenderHealth, event: Exclude<SenderEvent, { kind: "answer" }>, now: number): SenderHealth {
  if (event.kind === "resume") return opened(state);
  if (event.kind === "released") return endProbe(state, event.epoch);
  if (state.mode === "open" || state.mode === "probing" || state.until === null || state.until > now) return state;
  const { trouble } = state;
  const patience = trouble.hasStopped ? PROBES_MAX : state.patience;
  return { ...remember(state), mode: "probing", isProbing: false, patience, trouble };
}

function afterAnswer(before: SenderHealth, answer: ServerAnswer, isCurrent: boolean, now: number): HealthStep {
  const { message, outcome, domain, needsOthers } = answer;
  if (outcome === "sent") return { state: afterSuccess(before, answer, isCurrent, now), verdict: "as-said" };
  const accuses = outcome === "held" || answer.sender !== "none" || answer.strike;
  if (before.mode === "open" && message !== null && before.counted.includes(message) && (accuses || isBlaming(answer)))
    return { state: before, verdict: "odd" };
  const quotaDomains = needsOthers ? withName(before.quotaDomains, domain) : before.quotaDomains;
  const told = { ...withDomain(withRecipient(before, answer), answer, now), quotaDomains };
  if (needsOthers && quotaDomains.length < QUOTA_DOMAINS_MIN) return { state: told, verdict: "odd" };
  const step = afterFailure(told, answer, isCurrent, now);
  if (message === null || !(accuses || step.verdict === "held")) return step;
  const counted = withName(step.state.counted, message).slice(-COUNTED_MAX);
  return { ...step, state: { ...step.state, counted } };
}

function afterSuccess(before: SenderHealth, answer: ServerAnswer, isCurrent: boolean, now: number): SenderHealth {
  const told = withDomain(withRecipient(before, answer), answer, now);
  if (isCurrent && told.mode !== "open") return opened(told);
  return { ...told, patience: REFUSALS_MAX, quotaDomains: [] };
}

function afterFailure(state: SenderHealth, answer: ServerAnswer, isCurrent: boolean, now: number): HealthStep {
  const { outcome, sender, hasAddressCode } = answer;
  const doubted = isBlaming(answer) ? "held" : "as-said";
  if (needsAnswer(state)) return { state, verdict: doubted };
  const isMany = isAboutMany(state, answer);
  if (isMany && hasAddressCode) return { state: stopped(state, answer, null, now), verdict: doubted };
  if (isMany || sender === "breaker" || answer.strike) {
    const isRound = state.mode === "probing" && state.trouble.hasStopped;
    if (isRound) return { state: afterProbe(state, answer, now), verdict: isCertain(answer) ? "as-said" : "later" };
    const next = afterStrike(state, answer, { isMany, isCurrent, now });
    return { state: next, verdict: next.mode === "stopped" ? doubted : "as-said" };
  }
  // While the sender is stopped, a refusal that blames the recipient isn't believed, unless its code is about the
  // address.
  if (state.mode === "stopped") return { state, verdict: hasAddressCode ? "as-said" : doubted };
  if (isCurrent && (sender === "hours" || sender === "back-off"))
    return { state: waiting(state, answer, now), verdict: "as-said" };
  const isProof = state.mode === "open" && outcome === "bounced";
  return { state: isProof ? { ...state, patience: REFUSALS_MAX } : state, verdict: "as-said" };
}

function afterStrike(
  state: SenderHealth,
  answer: ServerAnswer,
  { isMany, isCurrent, now }: { readonly isMany: boolean; readonly isCurrent: boolean; readonly now: number },
): SenderHealth {
  const left = { ...state, patience: state.patience - 1 };
  if (isMany || left.patience <= 0) return stopped(state, answer, now + PROBE_INTERVAL, now);
  return isCurrent && state.mode === "probing" && isCertain(answer) ? waiting(left, answer, now) : left;
}

/** A refused probe is followed by another, because each one may have had an unusual recipient. */
function afterProbe(state: SenderHealth, answer: ServerAnswer, now: number): SenderHealth {
  const patience = isCertain(answer) ? 0 : state.patience - 1;
  return patience > 0 ? { ...state, patience } : stopped(state, answer, now + PROBE_INTERVAL, now);
}

/** True if no recipient can be to blame: none was named yet, or the message may have arrived. */
function isCertain({ message, outcome }: ServerAnswer): boolean {
  return message === null || outcome === "unknown";
}

function remember({ epoch, patience, recent, domains, quotaDomains, counted }: SenderHealth): Memory {
  return { epoch: epoch + 1, patience, recent, domains, quotaDomains, counted };
}

/** Forgets recipients from before the stop; otherwise the next refusal would count them again. */
function opened(state: SenderHealth): SenderHealth {
  const recent = hasStopped(state) ? [] : state.recent;
  return { ...remember(state), mode: "open", patience: REFUSALS_MAX, recent, quotaDomains: [] };
}

function waiting(state: SenderHealth, answer: ServerAnswer, now: number): SenderHealth {
  const trouble = troubleAfter(state, answer, now);
  const asked = answer.afterSeconds === null ? null : answer.afterSeconds * SECOND;
  const wait = answer.sender === "hours" ? (asked ?? QUOTA_WAIT) : Math.max(backOffMs(trouble.consecutive), asked ?? 0);
  const counted = { ...trouble, consecutive: trouble.consecutive + 1 };
  return { ...remember(state), mode: "waiting", until: now + wait, trouble: counted };
}

/** If the sender is already stopped, late replies don't postpone the next probe. */
function stopped(state: SenderHealth, answer: ServerAnswer, until: number | null, now: number): SenderHealth {
  if (state.mode === "stopped" && until !== null) return state;
  return {
    ...remember(state),
    mode: "stopped",
    until,
    trouble: { ...troubleAfter(state, answer, now), hasStopped: true },
  };
}

function troubleAfter(state: SenderHealth, { text, said }: ServerAnswer, now: number): Trouble {
  const before = state.mode === "open" ? { since: now, consecutive: 0, hasStopped: false } : state.trouble;
  return { ...before, reason: text.slice(0, REASON_MAX), said };
}

function endProbe(state: SenderHealth, epoch: number): SenderHealth {
  return state.mode === "probing" && epoch === state.epoch ? { ...state, isProbing: false } : state;
}

function withName(names: readonly string[], name: string): readonly string[] {
  return names.includes(name) ? names : [...names, name];
}

function backOffMs(consecutive: number): number {
  return Math.min(BACK_OFF_MIN * 2 ** Math.min(consecutive, 10), BACK_OFF_MAX);
}

function isBlaming({ outcome }: ServerAnswer): boolean {
  return outcome === "bounced" || outcome === "failed";
}

function withRecipient(state: SenderHealth, answer: ServerAnswer): SenderHealth {
  if (answer.outcome !== "sent" && !isRefusal(answer)) return state;
  const { outcome, maskedText, hasAddressCode } = answer;
  const recipient = { text: outcome === "sent" ? null : maskedText.slice(0, REASON_MAX), hasAddressCode };
  return { ...state, recent: [...state.recent, recipient].slice(-RECENT_MAX) };
}

/** Delays, lost connections and quotas aren't refusals. */
function isRefusal({ outcome, sender }: ServerAnswer): boolean {
  const isFinal = outcome === "bounced" || outcome === "failed" || outcome === "held";
  return isFinal && (sender === "none" || sender === "breaker");
}

/** Whether a refusal is about more than its recipient: a fifth got the same text, or three in ten are unknown. */
function isAboutMany({ recent }: SenderHealth, answer: ServerAnswer): boolean {
  if (recent.length < RECENT_MIN || !isRefusal(answer)) return false;
  const { maskedText, hasAddressCode } = answer;
  const text = maskedText.slice(0, REASON_MAX);
  const alike = recent.filter((each) =>
    hasAddressCode ? each.hasAddressCode : !each.hasAddressCode && each.text === text,
  );
  return alike.length > recent.length * (hasAddressCode ? UNKNOWN_SHARE : SAME_WORDS_SHARE);
}

function withDomain(state: SenderHealth, answer: ServerAnswer, now: number): SenderHealth {
  const { domain, outcome, backsDomainOff, afterSeconds } = answer;
  const { [domain]: before, ...others } = state.domains;
  if (outcome === "sent") return before === undefined ? state : { ...state, domains: others };
  // While the domain backs off, a failure of a message sent before that doesn't count again.
  if (!backsDomainOff || (before !== undefined && before.until > now)) return state;
  // After a long pause, the domain's count starts over.
  const isRecent = (each: DomainBackOff): boolean => each.until + BACK_OFF_MAX > now;
  const consecutive = before !== undefined && isRecent(before) ? before.consecutive : 0;
  const until = now + Math.max(backOffMs(consecutive), (afterSeconds ?? 0) * SECOND);
  const current = Object.entries(others).filter(([, each]) => isRecent(each));
  return { ...state, domains: { ...Object.fromEntries(current), [domain]: { until, consecutive: consecutive + 1 } } };
}
