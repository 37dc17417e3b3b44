import { claimSome, settleClaim } from "./claims.ts";
import { dueAfter } from "../write-time.ts";
import { NotFoundError } from "../errors.ts";
import type { Project } from "../inputs.ts";
import type {
  Claim,
  DeliveryRow,
  DueMessage,
  DueProjects,
  DueReminder,
  DueReply,
  DueSurvey,
  FrozenMessage,
  DeliveryChange,
  OutgoingChannel,
  Transaction,
} from "../ports.ts";
import { findSuppression, recordBounce, stopTexts } from "../people/suppressions.ts";
import { readSettings } from "../projects/settings.ts";
import { localDay } from "../windows/day.ts";
import { postponeAutopilot, scheduleAutopilot } from "../surveys/surveys.ts";
import { chooseWeek, continueDigest, eraseLostDigest, mayStillSendDigest, toDigestChange } from "./digests.ts";
import { refuseReminder, scheduleReminder } from "./reminders.ts";
import { FIRST_RETRY_SECONDS } from "./retries.ts";
import { followsWindow, nextOpening, roomToday, waitForWindow } from "./pacing.ts";
import type { AttemptFacts, DeliveryOutcome, DeliveryResult } from "./sender.ts";

/** What to do with a message that may have arrived: `hold` waits for proof or for the operator. */
export type OnUnknown = "hold" | "resend";

export interface ClaimedDue {
  readonly messages: readonly DueMessage[];
  readonly isFull: boolean;
}

/** The messages are sent once the claim is durable. The channels share the daily limit. */
export async function claimDue(
  tx: Transaction,
  claim: Claim,
  channels: readonly OutgoingChannel[] = [claim.channel],
): Promise<ClaimedDue> {
  const { pausedAt, dailyLimit } = await tx.senders.limits(claim.project);
  const isPaused = pausedAt !== null && !ignoresPauses(claim.channel);
  const room = isPaused ? 0 : await roomToday(tx, claim, channels, dailyLimit);
  if (room === 0) return { messages: [], isFull: false };
  const limited = room === null ? claim : { ...claim, limit: Math.min(claim.limit, room), isInTurn: true };
  const claimed = await claimSome(tx, limited);
  const opensAt = claimed.some(followsWindow) ? await nextOpening(tx, { id: claim.project }, claim.channel) : tx.now;
  const messages: DueMessage[] = [];
  for (const due of claimed) {
    const chosen = await screenClaimed(tx, due, opensAt);
    if (chosen !== null) messages.push(chosen);
  }
  return { messages, isFull: claimed.length >= claim.limit };
}

/** Null if the message was postponed, or there is nothing to send. `opensAt` is when the channel's window opens. */
async function screenClaimed(tx: Transaction, due: DueMessage, opensAt: number): Promise<DueMessage | null> {
  if (due.channel === "digest") return chooseWeek(tx, due);
  if (due.channel === "reply") return due;
  const reason = isSurvey(due) ? null : await refuseReminder(tx, due);
  const wait = followsWindow(due) ? waitForWindow(tx, opensAt) : null;
  const outcome = reason === null ? wait : { kind: "cancelled" as const, reason };
  if (outcome === null) return due;
  await settleClaim(tx, due, toChange(tx, due, outcome));
  return null;
}

/** Replies go to people who have just texted us, even during a pause. */
function ignoresPauses(channel: OutgoingChannel): boolean {
  return channel === "reply";
}

/** Returns when the next message on these channels is due, and which projects have messages due now. */
export async function findDue(
  tx: Transaction,
  channels: readonly OutgoingChannel[],
): Promise<{ readonly dueAt: number | null; readonly due: DueProjects }> {
  const queues = channels.map((channel) => ({ channel, withPaused: ignoresPauses(channel) }));
  const dueAt = await tx.queue.nextDueAt(queues);
  if (dueAt === null || dueAt > tx.now) return { dueAt, due: new Map() };
  if ((await tx.senders.pausedAt()) === null) return { dueAt, due: await tx.queue.dueProjects(queues) };
  const open = queues.filter(({ withPaused }) => withPaused);
  return { dueAt: await tx.queue.nextDueAt(open), due: await tx.queue.dueProjects(open) };
}

/** Makes messages of dead schedulers due again; those in transmission become `unknown`. Returns the number. */
export async function releaseDeadClaims(
  tx: Transaction,
  living: readonly string[] = [],
  onUnknown: OnUnknown = "hold",
  project: number | null = null,
): Promise<number> {
  let released = 0;
  for (const one of project === null ? await tx.queue.claimedProjects(living) : [project]) {
    const transmitting = await tx.queue.listTransmitting(one, living);
    for (const due of transmitting) {
      const attempt = { ...LOST, stage: FINAL_STAGES[due.channel] };
      await finishDelivery(tx, due, { kind: "unknown", attempt }, { onUnknown, resendSeconds: 0 });
    }
    released += (await tx.queue.releaseClaims(one, living)) + transmitting.length;
  }
  return released;
}

export const GATEWAY_STAGE = "gateway";
/** The stage in which only the server's reply is outstanding. */
const FINAL_STAGES: Readonly<Record<OutgoingChannel, string>> = {
  email: "final-dot",
  reminder: "final-dot",
  digest: "final-dot",
  sms: GATEWAY_STAGE,
  "sms-reminder": GATEWAY_STAGE,
  reply: GATEWAY_STAGE,
};

const LOST: Omit<AttemptFacts, "stage"> = {
  code: null,
  enhancedCode: null,
  text: "the service ended before a reply came",
  host: null,
  serverId: null,
  ms: 0,
};

function isSurvey(due: DueMessage): due is DueSurvey {
  return due.channel === "email" || due.channel === "sms";
}

/**
 * Returns false if the final dot must not be sent. Reminders are checked again, because answering a survey doesn't end
 * the claim on its reminder.
 */
export async function markTransmitting(tx: Transaction, due: DueMessage, frozen?: FrozenMessage): Promise<boolean> {
  if ("survey" in due && (await refuseReminder(tx, due)) !== null) return false;
  return tx.queue.markTransmitting(due, frozen ?? null);
}

interface SendingRules {
  readonly maxAgeSeconds: number | null;
}

/** How to end a message that must no longer be sent; null if it can be sent. Read-only. */
export async function mayStillSend(
  tx: Transaction,
  due: DueMessage,
  rules: SendingRules,
): Promise<DeliveryOutcome | null> {
  const { project, channel } = due;
  const claimed = await tx.queue.claimed(due);
  if (claimed === null || claimed.state === "cancelled") return { kind: "released", delaySeconds: 0 };
  const refused = isSurvey(due) ? await refuseSurvey(tx, due) : null;
  if (refused !== null) return refused;
  const reason =
    "survey" in due ? await refuseReminder(tx, due) : due.channel === "reply" ? await refuseReply(tx, due) : null;
  if (reason !== null) return { kind: "cancelled", reason };
  const unwanted = due.channel === "digest" ? await mayStillSendDigest(tx, due) : null;
  if (unwanted !== null) return unwanted;
  const isPaused = (await tx.senders.pausedSince(project.id)) !== null;
  if (isPaused && !ignoresPauses(channel)) return { kind: "released", delaySeconds: 0 };
  if (due.channel === "digest" || due.channel === "reply") return null;
  const early = followsWindow(due) ? waitForWindow(tx, await nextOpening(tx, project, channel)) : null;
  if (early !== null) return early;
  return (await isTooOld(tx, due, rules)) ? { kind: "failed", reason: "too late" } : null;
}

/** Refuses to ask for an answer or comment that the person has already sent. */
async function refuseReply(tx: Transaction, { project, kind, token }: DueReply): Promise<string | null> {
  if (kind !== "ask-again" && kind !== "ask-comment") return null;
  const { responseId = null } = (await tx.requests.byToken(token)) ?? {};
  const answer = responseId === null ? null : await tx.responses.byId(project.id, responseId);
  const isGiven = kind === "ask-again" ? answer !== null : (answer?.comment ?? null) !== null;
  return isGiven ? "answered" : null;
}

/** A survey's age counts from when it could first be sent; waiting for a daily limit doesn't count. */
async function isTooOld(
  tx: Transaction,
  { project, scheduledAt }: Pick<DueSurvey, "project" | "scheduledAt">,
  { maxAgeSeconds }: SendingRules,
): Promise<boolean> {
  if (maxAgeSeconds === null || tx.now - scheduledAt <= maxAgeSeconds) return false;
  const { limitedUntil = null } = (await tx.projects.byId(project.id)) ?? {};
  return tx.now - (limitedUntil ?? 0) > maxAgeSeconds;
}

async function refuseSurvey(
  tx: Transaction,
  { project, person: { id }, channel }: DueSurvey,
): Promise<DeliveryOutcome | null> {
  const person = await tx.people.byId(project.id, id);
  const refused = person === null ? null : await findSuppression(tx, project, person, channel);
  if (person !== null && refused === null) return null;
  const isKnown = refused !== null && refused.status !== "unreachable";
  return { kind: "cancelled", reason: isKnown ? refused.status : "the person is no longer sent to" };
}

export interface UnknownRule {
  readonly onUnknown: OnUnknown;
  readonly resendSeconds?: number;
}

/** Ignores lost claims. After a sent, failed or unknown message, the next Autopilot survey or digest is scheduled. */
export async function finishDelivery(
  tx: Transaction,
  due: DueMessage,
  ended: DeliveryResult,
  { onUnknown, resendSeconds = FIRST_RETRY_SECONDS }: UnknownRule = { onUnknown: "hold" },
): Promise<void> {
  const isResent = ended.kind === "unknown" && onUnknown === "resend" && isSurvey(due);
  const result = isResent ? { ...ended, kind: "retry" as const, delaySeconds: resendSeconds } : ended;
  const change = toChange(tx, due, result);
  if (!(await settleClaim(tx, due, due.channel === "digest" ? toDigestChange(tx, result, change) : change))) {
    if (due.channel === "digest") await eraseLostDigest(tx, due, result);
    return;
  }
  // Logged even if the survey is resent, because it may have arrived.
  if (ended.attempt) await logAttempt(tx, { ...logOf(due), secrets: secretsOf(due) }, ended.kind, ended.attempt);
  if (ended.kind === "sent" || ended.kind === "unknown") await noteTransmitted(tx, due, ended);
  if (due.channel === "digest") await continueDigest(tx, due, result.kind);
  else if (due.channel !== "reply") await followAsked(tx, due, result);
}

/** A reminder's attempts are logged under its survey. */
function logOf(due: DueMessage): Pick<DueMessage, "project" | "requestId"> {
  return "survey" in due ? { project: due.project, requestId: due.survey.requestId } : due;
}

async function followAsked(tx: Transaction, due: DueSurvey | DueReminder, result: DeliveryResult): Promise<void> {
  const isMail = due.channel === "email" || due.channel === "reminder";
  if (result.kind === "bounced" && isMail) await recordBounce(tx, due.project, due.person.id);
  if (result.kind === "cancelled" && result.hasStopped === true && due.person.phoneNumber !== null)
    await stopTexts(tx, due.project, due.person.phoneNumber);
  if (!isSurvey(due) || WAITS.has(result.kind)) return;
  if (result.kind === "sent") await noteSent(tx, due, due.person.id, tx.now);
  await continueAutopilot(tx, due, due.person.id, tx.now);
}

/**
 * Adds the segments of a text message to the project's count for today. If the sending process died, the frozen message
 * has their number.
 */
async function noteTransmitted(
  tx: Transaction,
  { project, frozen }: DueMessage,
  result: DeliveryResult,
): Promise<void> {
  const segments = result.segments ?? frozen?.values.segments;
  if (typeof segments !== "number") return;
  const { timeZone } = await readSettings(tx, project);
  await tx.texts.addSegments(project.id, localDay(tx.now, timeZone).name, segments);
}

const WAITS: ReadonlySet<DeliveryOutcome["kind"]> = new Set(["retry", "released", "held"]);

function toChange(tx: Transaction, { attempts, scheduledAt }: DueMessage, outcome: DeliveryResult): DeliveryChange {
  const ended = { dueAt: null, sentAt: null, reason: null, isAttempt: true };
  switch (outcome.kind) {
    case "sent":
      return { ...ended, state: "sent", sentAt: tx.now };
    case "bounced":
      return { ...ended, state: "bounced" };
    case "unknown":
      return { ...ended, state: "unknown" };
    case "failed":
      return { ...ended, state: "failed", reason: outcome.reason, isAttempt: outcome.attempt !== undefined };
    case "cancelled":
      return { ...ended, state: "cancelled", reason: outcome.reason, isAttempt: false };
    case "held":
      return { ...ended, state: "held", reason: outcome.reason, isAttempt: false };
    case "retry":
      return { ...ended, state: "retrying", dueAt: dueAfter(tx, outcome.delaySeconds) };
    default:
      return {
        ...ended,
        state: attempts > 0 ? "retrying" : "scheduled",
        // The message returns to its place in the queue.
        dueAt: outcome.delaySeconds === 0 ? Math.min(scheduledAt, tx.now) : tx.now + outcome.delaySeconds,
        ...(outcome.isEarly === true && attempts === 0 ? { scheduledAt: tx.now + outcome.delaySeconds } : {}),
        reason: outcome.reason ?? null,
        isAttempt: false,
      };
  }
}

const TEXT_MAX = 500;
const GATEWAY_TEXT_MAX = 1024;

interface LoggedMessage extends Pick<DueSurvey, "requestId"> {
  readonly project: Pick<Project, "id">;
  readonly secrets: readonly string[];
}

/** `outcome` is a kind of `DeliveryOutcome`, or the result of a report. */
export async function logAttempt(
  tx: Transaction,
  { project, requestId, secrets }: LoggedMessage,
  outcome: string,
  { text, host, serverId, enhancedCode, ...facts }: AttemptFacts,
): Promise<void> {
  const clean = (said: string | null): string | null =>
    said === null
      ? null
      : secrets
          .reduce((rest, secret) => rest.replaceAll(secret, "[token]"), said.replaceAll("\0", ""))
          .slice(0, facts.stage === GATEWAY_STAGE ? GATEWAY_TEXT_MAX : TEXT_MAX);
  await tx.deliveries.log(project.id, requestId, {
    ...facts,
    text: clean(text),
    host: clean(host),
    serverId: clean(serverId),
    enhancedCode: clean(enhancedCode),
    at: tx.now,
    outcome,
  });
}

function secretsOf(due: DueMessage): readonly string[] {
  if (due.channel === "reply") return [];
  const own = due.channel === "digest" ? [due.token] : [due.token, due.unsubscribeToken];
  return [...own, due.frozen?.bounceToken ?? ""].filter((secret) => secret !== "");
}

type EndedSurvey = Pick<DueSurvey, "requestId" | "channel" | "autopilot" | "project">;

async function noteSent(tx: Transaction, ended: EndedSurvey, personId: number, sentAt: number): Promise<void> {
  await scheduleReminder(tx, ended, sentAt);
  if (!ended.autopilot) await postponeAutopilot(tx, ended.project, personId, sentAt);
}

async function continueAutopilot(
  tx: Transaction,
  { project, channel, autopilot, requestId }: EndedSurvey,
  personId: number,
  at: number,
): Promise<void> {
  const member = autopilot ? await tx.autopilot.member(project.id, channel, personId) : null;
  // Someone who left and joined again already has a new pending request.
  if (member === null || member.nextRequestId !== requestId) return;
  const person = await tx.people.byId(project.id, personId);
  if (person !== null) await scheduleAutopilot(tx, project, person, { member, start: { kind: "after", at } });
}

/** Throws NotFoundError if the delivery isn't unknown. */
export async function resolveDelivery(
  tx: Transaction,
  project: Project,
  id: number,
  as: "sent" | "resend",
): Promise<DeliveryRow> {
  const row = await tx.deliveries.byId(project.id, id);
  if (row === null) throw new NotFoundError(`project ${project.name} has no survey ${id}`);
  if (row.state !== "unknown") throw new NotFoundError(`survey ${id} is ${row.state}, not unknown`);
  const again = { sentAt: null, reason: null, isAttempt: false, dueAt: tx.now, scheduledAt: tx.now };
  if (as === "sent") await settleAsSent(tx, project, row);
  else await settleClaim(tx, row, { ...again, state: "retrying" });
  return (await tx.deliveries.byId(project.id, id)) ?? row;
}

/** States that are disproved if someone uses a link in the message. */
const REFUTABLE: ReadonlySet<DeliveryRow["state"]> = new Set(["unknown", "retrying", "held", "failed"]);

/** A used link proves that the message arrived: marks it as `sent`, so that it is never resent. */
export async function confirmSent(tx: Transaction, project: Project, requestId: number): Promise<void> {
  const row = await tx.deliveries.byId(project.id, requestId);
  if (row !== null && row.claimer === null && row.attempts > 0 && REFUTABLE.has(row.state))
    await settleAsSent(tx, project, row);
}

/** Uses the time when transmission began, if it is known, as the time of sending. */
async function settleAsSent(tx: Transaction, project: Project, row: DeliveryRow): Promise<void> {
  const sentAt = row.transmittingAt ?? tx.now;
  const settled = await settleClaim(tx, row, { state: "sent", dueAt: null, sentAt, reason: null, isAttempt: false });
  if (!settled) return;
  const ended = { ...row, project };
  await noteSent(tx, ended, row.personId, sentAt);
  await continueAutopilot(tx, ended, row.personId, sentAt);
}
