/**
 * The health of the sender as a whole: a pure machine over the replies of a mail server or a gateway, so that trouble
 * of the sender costs a few attempts and no person. Times are Unix milliseconds; every state is plain JSON, to be
 * stored and loaded.
 */

import type { ReplyFacts } from "../../domain/delivery/rows.ts";

/** The end of one message, and the meaning of the server's reply to it for the sender. */
export interface ServerAnswer {
  /** Names the message, once its recipient was named to the server; null before. */
  readonly message: string | null;
  readonly outcome: "sent" | "retry" | "bounced" | "failed" | "held" | "unknown";
  /** `hours` is a quota; `breaker` is a refusal of policy or login, of which three in a row stop the sender. */
  readonly sender: "none" | "back-off" | "hours" | "breaker";
  /** A refusal of content, or a defect of ours: three in a row stop the sender too. */
  readonly strike: boolean;
  /** The recipient's. */
  readonly domain: string;
  /** The domain of recipients is put off, and not the sender. */
  readonly backsDomainOff: boolean;
  /** The time that the server asked to wait. */
  readonly afterSeconds: number | null;
  /** The server's words. */
  readonly text: string;
  readonly said: ReplyFacts;
  /** The same without what differs from one recipient to the next. */
  readonly maskedText: string;
  /** The reply names the address, such as 5.1.1. */
  readonly hasAddressCode: boolean;
}

export type SenderEvent =
  /** `epoch` is that of the message's admission. Only the other side's replies belong here. */
  | { readonly kind: "answer"; readonly answer: ServerAnswer; readonly epoch: number }
  /** An admitted message did not go out and nothing was learnt: it was withdrawn or could not be sent at all. */
  | { readonly kind: "released"; readonly epoch: number }
  /** The time of a back-off or of the next probe may have come. */
  | { readonly kind: "probe-due" }
  /** An operator says to go on. */
  | { readonly kind: "resume" };

type SenderMode = "open" | "backing-off" | "half-open" | "breaker";

export interface SenderHealth {
  readonly mode: SenderMode;
  /** When the next message may be tried; null when open, and when an operator must say so. */
  readonly until: number | null;
  /** The reason why it is not open, in the server's words; null when open. */
  readonly reason: string | null;
  /** The stage at which they were said, with their codes; null when open. */
  readonly said: ReplyFacts | null;
  /** Since when it is not open. */
  readonly since: number | null;
  /** Too many addresses are unknown: an operator must answer, and no probe is sent. */
  readonly needsAnswer: boolean;
  /** The mode that a failed probe returns to. */
  readonly probes: "backing-off" | "breaker" | null;
  /** The one message of `half-open` is on its way. */
  readonly isProbing: boolean;
  /** Changes whenever the mode does. What was admitted before says nothing about the mode after. */
  readonly epoch: number;
  /** Back-offs in a row. */
  readonly consecutive: number;
  /** Refusals of policy or login in a row. */
  readonly refusals: number;
  /** The last recipients that had an answer, the newest last. */
  readonly recent: readonly RecentRecipient[];
  readonly domains: Readonly<Record<string, DomainBackOff>>;
  /** Messages that were counted against the sender since the last success. */
  readonly accusing: readonly string[];
  /**
   * Messages that were counted against it before others went out: a later refusal of these is about their recipients.
   */
  readonly odd: readonly string[];
}

interface RecentRecipient {
  /** The words of a refusal without addresses and numbers; null when there was none. */
  readonly text: string | null;
  readonly hasAddressCode: boolean;
}

interface DomainBackOff {
  readonly until: number;
  readonly consecutive: number;
}

export interface HealthStep {
  readonly state: SenderHealth;
  /** The answer blames the message or its person for what now looks like the sender's trouble: keep it as `held`. */
  readonly isHeld: boolean;
  /** The answer says nothing of the sender, whatever it reads like: others go out while this one does not. */
  readonly isOdd: boolean;
}

export type Admission =
  | { readonly kind: "go"; readonly epoch: number }
  /** Nothing goes out before `until`; null means before the next event. */
  | { readonly kind: "wait"; readonly scope: "sender"; readonly until: number | null }
  | { readonly kind: "wait"; readonly scope: "domain"; readonly until: number };

export const HEALTHY_SENDER: SenderHealth = {
  mode: "open",
  until: null,
  reason: null,
  said: null,
  since: null,
  needsAnswer: false,
  probes: null,
  isProbing: false,
  epoch: 0,
  consecutive: 0,
  refusals: 0,
  recent: [],
  domains: {},
  accusing: [],
  odd: [],
};

const SECOND = 1000;
const BACK_OFF_MIN = 30 * SECOND;
const BACK_OFF_MAX = 15 * 60 * SECOND;
const PROBE_INTERVAL = 15 * 60 * SECOND;
const QUOTA_WAIT = 4 * 3600 * SECOND;
const REFUSALS_MAX = 3;
const RECENT_MAX = 50;
const RECENT_MIN = 20;
const SAME_WORDS_SHARE = 0.2;
const UNKNOWN_SHARE = 0.3;
const REASON_MAX = 500;
/** So many recipients of a mailing may be odd. One that is forgotten counts against the sender once more. */
const ACCUSING_MAX = 5000;

/** Asks for one more message to this domain. In `half-open` there is one message at a time. */
export function admit(
  before: SenderHealth,
  domain: string,
  now: number,
): { state: SenderHealth; admission: Admission } {
  const state = nextSenderHealth(before, { kind: "probe-due" }, now).state;
  const slow = state.domains[domain];
  if (state.mode === "backing-off" || state.mode === "breaker" || state.isProbing)
    return { state, admission: { kind: "wait", scope: "sender", until: state.until } };
  if (slow !== undefined && slow.until > now)
    return { state, admission: { kind: "wait", scope: "domain", until: slow.until } };
  const admitted = state.mode === "half-open" ? { ...state, isProbing: true } : state;
  return { state: admitted, admission: { kind: "go", epoch: state.epoch } };
}

export function nextSenderHealth(state: SenderHealth, event: SenderEvent, now: number): HealthStep {
  if (event.kind === "answer") return afterAnswer(state, event.answer, event.epoch, now);
  return { state: afterOther(state, event, now), isHeld: false, isOdd: false };
}

/** A state that another process stored: its messages are gone, and with them the probe. */
export function restoreSenderHealth(stored: SenderHealth): SenderHealth {
  return { ...stored, isProbing: false, epoch: stored.epoch + 1 };
}

function afterOther(state: SenderHealth, event: Exclude<SenderEvent, { kind: "answer" }>, now: number): SenderHealth {
  if (event.kind === "resume") return opened(state);
  if (event.kind === "released") return event.epoch === state.epoch ? { ...state, isProbing: false } : state;
  return isDue(state, now) ? halfOpen(state) : state;
}

/** One odd mailbox must not stop the sender again and again, so a message counts against it once. */
function afterAnswer(before: SenderHealth, answer: ServerAnswer, epoch: number, now: number): HealthStep {
  const { message } = answer;
  if (message !== null && accuses(answer) && before.odd.includes(message)) {
    const isProbe = epoch === before.epoch && before.mode === "half-open";
    return { state: isProbe ? { ...before, isProbing: false } : before, isHeld: false, isOdd: true };
  }
  const step = afterOtherAnswer(before, answer, epoch, now);
  return { ...step, state: withAccusation(step.state, answer, step.isHeld), isOdd: false };
}

function accuses(answer: ServerAnswer): boolean {
  return answer.outcome === "held" || answer.sender !== "none" || isStrike(answer);
}

function withAccusation(state: SenderHealth, answer: ServerAnswer, isHeld: boolean): SenderHealth {
  const { message, outcome } = answer;
  const { accusing, odd } = state;
  if (outcome === "sent")
    return accusing.length === 0
      ? state
      : { ...state, accusing: [], odd: [...new Set([...odd, ...accusing])].slice(-ACCUSING_MAX) };
  if (message === null || !(isHeld || accuses(answer)) || accusing.includes(message)) return state;
  return { ...state, accusing: [...accusing, message].slice(-ACCUSING_MAX) };
}

function afterOtherAnswer(
  before: SenderHealth,
  answer: ServerAnswer,
  epoch: number,
  now: number,
): Omit<HealthStep, "isOdd"> {
  const told = withDomain(withRecipient(before, answer), answer, now);
  const state = { ...told, refusals: refusalsAfter(told, answer) };
  const isCurrent = epoch === state.epoch;
  const isBlaming = answer.outcome === "bounced" || answer.outcome === "failed";
  if (isAboutMany(state, answer)) {
    const needsAnswer = answer.hasAddressCode || state.needsAnswer;
    const stopped = stop(state, answer, now);
    return { state: { ...stopped, needsAnswer, until: needsAnswer ? null : stopped.until }, isHeld: isBlaming };
  }
  if (state.needsAnswer) return { state, isHeld: isBlaming };
  if (isStrike(answer) && state.refusals >= REFUSALS_MAX) return { state: stop(state, answer, now), isHeld: isBlaming };
  // After a breaker opens, a refusal that blames the message is doubted unless its code names the address.
  const isHeld = isBlaming && state.mode === "breaker" && !answer.hasAddressCode;
  return { state: isCurrent ? afterCurrent(state, answer, now) : state, isHeld };
}

/** The evidence about the present mode of a message that was admitted in it. */
function afterCurrent(state: SenderHealth, answer: ServerAnswer, now: number): SenderHealth {
  const { sender, outcome, afterSeconds } = answer;
  const later = now + Math.max(backOffMs(state.consecutive), seconds(afterSeconds) ?? 0);
  if (sender === "hours") return putOff(state, answer, now + (seconds(afterSeconds) ?? QUOTA_WAIT), now);
  if (sender === "back-off") return putOff(state, answer, later, now);
  if (state.mode === "open") return outcome === "sent" ? { ...state, consecutive: 0 } : state;
  // The probe was refused like those before it: back to where it came from.
  if (isStrike(answer) && state.probes === "breaker") return stop(state, answer, now);
  if (sender === "breaker") return putOff(state, answer, later, now);
  return isProofOfHealth(state, answer) ? opened(state) : { ...state, isProbing: false };
}

/** After a breaker a reply about one person or a delay is no proof: the same words may have been the trouble. */
function isProofOfHealth({ probes }: SenderHealth, { outcome, hasAddressCode }: ServerAnswer): boolean {
  if (outcome === "sent") return true;
  return outcome !== "unknown" && (probes === "backing-off" || (outcome === "bounced" && hasAddressCode));
}

function isDue({ mode, until }: SenderHealth, now: number): boolean {
  return (mode === "backing-off" || mode === "breaker") && until !== null && until <= now;
}

function halfOpen(state: SenderHealth): SenderHealth {
  const probes = state.mode === "breaker" ? "breaker" : "backing-off";
  return { ...state, mode: "half-open", probes, isProbing: false, until: null, epoch: state.epoch + 1 };
}

/** The recipients from before are forgotten, or the next refusal would count them again. */
function opened(state: SenderHealth): SenderHealth {
  const recent = state.mode === "breaker" || state.probes === "breaker" ? [] : state.recent;
  const { accusing, odd, domains } = state;
  return { ...HEALTHY_SENDER, epoch: state.epoch + 1, recent, domains, accusing, odd };
}

function putOff(state: SenderHealth, answer: ServerAnswer, until: number, now: number): SenderHealth {
  return { ...closed(state, answer, until, now), mode: "backing-off", consecutive: state.consecutive + 1 };
}

function stop(state: SenderHealth, answer: ServerAnswer, now: number): SenderHealth {
  // Stragglers do not put the probe off.
  if (state.mode === "breaker") return state;
  return { ...closed(state, answer, now + PROBE_INTERVAL, now), mode: "breaker" };
}

function closed(state: SenderHealth, { text, said }: ServerAnswer, until: number, now: number): SenderHealth {
  const [shown, since] = [text.slice(0, REASON_MAX), state.since ?? now];
  return { ...state, until, reason: shown, said, since, probes: null, isProbing: false, epoch: state.epoch + 1 };
}

function backOffMs(consecutive: number): number {
  return Math.min(BACK_OFF_MIN * 2 ** Math.min(consecutive, 10), BACK_OFF_MAX);
}

function seconds(value: number | null): number | null {
  return value === null ? null : value * SECOND;
}

function isStrike({ sender, strike }: ServerAnswer): boolean {
  return sender === "breaker" || strike;
}

function refusalsAfter({ refusals }: SenderHealth, answer: ServerAnswer): number {
  if (isStrike(answer)) return refusals + 1;
  return answer.outcome === "sent" || answer.outcome === "bounced" ? 0 : refusals;
}

function withRecipient(state: SenderHealth, answer: ServerAnswer): SenderHealth {
  if (answer.outcome !== "sent" && !isRefusal(answer)) return state;
  const { outcome, maskedText, hasAddressCode } = answer;
  const recipient = { text: outcome === "sent" ? null : maskedText.slice(0, REASON_MAX), hasAddressCode };
  return { ...state, recent: [...state.recent, recipient].slice(-RECENT_MAX) };
}

/** A delay is no refusal, a lost connection is no answer, and a quota is about nobody in particular. */
function isRefusal({ outcome, sender }: ServerAnswer): boolean {
  const isFinal = outcome === "bounced" || outcome === "failed" || outcome === "held";
  return isFinal && (sender === "none" || sender === "breaker");
}

/** The same words to a fifth of all recipients, or three in ten of them unknown, are not about the recipients. */
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
  // A message that was on its way when the domain was put off is no further failure.
  if (!backsDomainOff || (before !== undefined && before.until > now)) return state;
  // A domain that was quiet for long begins anew.
  const isRecent = (each: DomainBackOff): boolean => each.until + BACK_OFF_MAX > now;
  const consecutive = before !== undefined && isRecent(before) ? before.consecutive : 0;
  const until = now + Math.max(backOffMs(consecutive), seconds(afterSeconds) ?? 0);
  const current = Object.entries(others).filter(([, each]) => isRecent(each));
  return { ...state, domains: { ...Object.fromEntries(current), [domain]: { until, consecutive: consecutive + 1 } } };
}
