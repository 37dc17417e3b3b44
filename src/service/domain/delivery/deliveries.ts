/** The life of a delivery: claimed, looked at once more, marked, ended, and what follows from its end. */
import type { Channel } from "../../../contract/routes.ts";
import { dueAfter } from "../due-after.ts";
import { NotFoundError } from "../errors.ts";
import type { Project } from "../inputs.ts";
import { newest } from "../people/person-identity.ts";
import type { Claim, DeliveryRow, DueSurvey, FrozenMessage, DeliveryChange, Transaction } from "../ports.ts";
import { canReceive, recordBounce, stopTexts } from "../people/suppressions.ts";
import { noteSegments } from "../sms/day.ts";
import { postponeAutopilot, scheduleAutopilot } from "../surveys/surveys.ts";
import type { AttemptFacts, DeliveryOutcome, DeliveryResult } from "./sender.ts";

/** The treatment of a message that may have arrived: `hold` leaves it to evidence and the operator. */
export type OnUnknown = "hold" | "resend";

/** Claims what is due in a project. In a write of the project; mail leaves after it is durable. */
export async function claimDue(tx: Transaction, claim: Claim): Promise<readonly DueSurvey[]> {
  return (await tx.deliveries.pausedAt()) === null ? tx.requests.claimDue(claim) : [];
}

const ALL_CHANNELS: readonly Channel[] = ["email", "sms"];

/** The projects in which something can be claimed now, by id; none while all is paused. */
export async function listDueProjects(tx: Transaction, channel: Channel): Promise<readonly number[]> {
  return (await tx.deliveries.pausedAt()) === null ? tx.requests.dueProjects(channel) : [];
}

/** When the scheduler must wake next; null when nothing waits, or all is paused. */
export async function nextDueAt(tx: Transaction, channels = ALL_CHANNELS): Promise<number | null> {
  return (await tx.deliveries.pausedAt()) === null ? tx.requests.nextDueAt(channels, { withPaused: false }) : null;
}

/** The same as if nothing were paused: a pause that was forgotten must show. */
export async function firstDueAt(tx: Transaction): Promise<number | null> {
  return tx.requests.nextDueAt(ALL_CHANNELS, { withPaused: true });
}

/**
 * Makes what schedulers other than the living ones had claimed due again, in one project or, with null, in all; what they
 * were transmitting is `unknown`. Returns how many.
 */
export async function releaseDeadClaims(
  tx: Transaction,
  living: readonly string[] = [],
  onUnknown: OnUnknown = "hold",
  project: number | null = null,
): Promise<number> {
  const transmitting = await tx.requests.listTransmitting(project, living);
  for (const due of transmitting) {
    const attempt = { ...LOST, stage: FINAL_STAGES[due.channel] };
    const isHeld = onUnknown === "hold";
    await finishDelivery(tx, due, isHeld ? { kind: "unknown", attempt } : { kind: "retry", delaySeconds: 0, attempt });
  }
  return (await tx.requests.releaseClaims(project, living)) + transmitting.length;
}

export const GATEWAY_STAGE = "gateway";
/** The stage at which only the reply is missing, as the sender of the channel calls it. */
const FINAL_STAGES: Readonly<Record<Channel, string>> = { email: "final-dot", sms: GATEWAY_STAGE };

const LOST: Omit<AttemptFacts, "stage"> = {
  code: null,
  enhancedCode: null,
  text: "the service ended before a reply came",
  host: null,
  serverId: null,
  ms: 0,
};

/** Marks a claimed survey before the final dot of its message; false when the claim is lost, and the dot must not follow. */
export async function markTransmitting(tx: Transaction, due: DueSurvey, frozen?: FrozenMessage): Promise<boolean> {
  return tx.requests.markTransmitting(due, frozen ?? null);
}

/** The end of a claimed survey that may not go out any more; null while it may. Reads only. */
export async function mayStillSend(
  tx: Transaction,
  due: DueSurvey,
  { maxAgeSeconds }: { readonly maxAgeSeconds: number | null },
): Promise<DeliveryOutcome | null> {
  const { project, channel } = due;
  if ((await tx.requests.isWanted(due)) !== true) return { kind: "released", delaySeconds: 0 };
  const person = await tx.people.byId(project.id, due.person.id);
  if (person === null || !(await canReceive(tx, project, person, channel)))
    return { kind: "cancelled", reason: "the person is no longer sent to" };
  const isPaused = (await tx.deliveries.pausedAt()) ?? (await tx.projects.byId(project.id))?.pausedAt ?? null;
  if (isPaused !== null) return { kind: "released", delaySeconds: 0 };
  if (maxAgeSeconds !== null && tx.now - due.scheduledAt > maxAgeSeconds) return { kind: "failed", reason: "too late" };
  return null;
}

/** Steps between attempts, in seconds; the first after failure is within a minute, the second clears greylisting. */
const RETRY_STEPS: readonly number[] = [45, 300, 900, 1800, 3600, 7200, 14_400];

/**
 * Records how a claimed delivery ended. Nothing happens when the claim is not the request's any more. The next survey of
 * an Autopilot follows `frequency` after one that was sent, failed or is unknown; a held one leaves that to its end.
 */
export async function finishDelivery(
  tx: Transaction,
  due: DueSurvey,
  ended: DeliveryResult,
  onUnknown: OnUnknown = "hold",
): Promise<void> {
  const isResent = ended.kind === "unknown" && onUnknown === "resend";
  const result = isResent ? { ...ended, kind: "retry" as const, delaySeconds: RETRY_STEPS[0] ?? 0 } : ended;
  if (!(await tx.requests.settle(due, toChange(tx, due, result)))) return;
  if (result.attempt) await logAttempt(tx, { ...due, secrets: secretsOf(due) }, result.kind, result.attempt);
  if (result.kind === "bounced" && due.channel === "email") await recordBounce(tx, due.project, due.person.id);
  if (result.kind === "sent") await noteSent(tx, due, due.person.id, tx.now);
  if (ended.kind === "sent" || ended.kind === "unknown") await noteTransmitted(tx, due, ended);
  if (result.kind === "cancelled" && result.hasStopped === true && due.person.phoneNumber !== null)
    await stopTexts(tx, due.project, due.person.phoneNumber);
  if (!WAITS.has(result.kind)) await continueAutopilot(tx, due, due.person.id, tx.now);
}

/** Counts the segments of a message; one that a dead process left has those of its frozen form. */
async function noteTransmitted(tx: Transaction, { project, frozen }: DueSurvey, result: DeliveryResult): Promise<void> {
  const segments = result.segments ?? frozen?.values.segments;
  if (typeof segments === "number") await noteSegments(tx, project, segments);
}

const WAITS: ReadonlySet<DeliveryOutcome["kind"]> = new Set(["retry", "released", "held"]);

/** The change of a survey that an outcome makes; a failure without facts was not tried. */
function toChange(tx: Transaction, { attempts, scheduledAt }: DueSurvey, outcome: DeliveryResult): DeliveryChange {
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
        // Back to its place in the queue.
        dueAt: outcome.delaySeconds === 0 ? Math.min(scheduledAt, tx.now) : tx.now + outcome.delaySeconds,
        reason: outcome.reason ?? null,
        isAttempt: false,
      };
  }
}

const TEXT_MAX = 500;
/** Of an answer over HTTP, which may be anything. */
const GATEWAY_TEXT_MAX = 1024;

interface LoggedSurvey extends Pick<DueSurvey, "requestId"> {
  readonly project: Pick<Project, "id">;
  /** The parts that no log may show. */
  readonly secrets: readonly string[];
}

/** Adds a row to the log of a survey; `outcome` is a kind of `DeliveryOutcome`, or what a report says. */
export async function logAttempt(
  tx: Transaction,
  { project, requestId, secrets }: LoggedSurvey,
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

function secretsOf({ token, unsubscribeToken, frozen }: DueSurvey): readonly string[] {
  return [token, unsubscribeToken, frozen?.bounceToken ?? ""].filter((secret) => secret !== "");
}

type EndedSurvey = Pick<DueSurvey, "requestId" | "channel" | "autopilot" | "project">;

async function noteSent(
  tx: Transaction,
  { project, autopilot }: EndedSurvey,
  personId: number,
  sentAt: number,
): Promise<void> {
  const person = await tx.people.byId(project.id, personId);
  if (person !== null) await tx.people.update(project.id, person.id, { lastSentAt: newest(person.lastSentAt, sentAt) });
  if (person !== null && !autopilot) await postponeAutopilot(tx, project, person.id, sentAt);
}

/** Schedules the next survey of the Autopilot that this one belonged to, counted from `at`. */
async function continueAutopilot(tx: Transaction, ended: EndedSurvey, personId: number, at: number): Promise<void> {
  const { project, channel } = ended;
  if (!ended.autopilot) return;
  const person = await tx.people.byId(project.id, personId);
  const member = await tx.autopilot.member(project.id, channel, personId);
  // A person who left and came back has another request waiting already.
  if (person === null || member === null || member.nextRequestId !== ended.requestId) return;
  await scheduleAutopilot(tx, project, person, { platform: channel, member, start: { kind: "after", at } });
}

const JITTER = 0.15;
const GIVE_UP_SECONDS = 72 * 3600;

/** The wait of a message after so many attempts; `fraction` from 0 up to 1 spreads it by 15 % either way. */
export function retryDelaySeconds(attempts: number, fraction: number): number {
  const step = RETRY_STEPS[Math.min(attempts - 1, RETRY_STEPS.length - 1)] ?? 0;
  return Math.round(step * (1 - JITTER + 2 * JITTER * fraction));
}

/**
 * The step after an attempt that was refused for now: the next one, or 72 hours after the first `failed`.
 * `leastSeconds` is the wait that the server asked for.
 */
export function retryOrGiveUp(
  due: Pick<DueSurvey, "attempts" | "firstAttemptAt">,
  {
    now,
    fraction,
    leastSeconds = 0,
  }: { readonly now: number; readonly fraction: number; readonly leastSeconds?: number },
): DeliveryOutcome {
  if (due.firstAttemptAt !== null && now - due.firstAttemptAt >= GIVE_UP_SECONDS)
    return { kind: "failed", reason: "not accepted within 72 hours" };
  return { kind: "retry", delaySeconds: Math.max(retryDelaySeconds(due.attempts + 1, fraction), leastSeconds) };
}

/** Records what the operator knows of an unknown delivery; as it is now. Throws NotFoundError when it is not unknown. */
export async function resolveDelivery(
  tx: Transaction,
  project: Project,
  id: number,
  as: "sent" | "resend",
): Promise<DeliveryRow> {
  const row = await tx.deliveries.byId(project.id, id);
  if (row === null) throw new NotFoundError(`project ${project.name} has no survey ${id}`);
  if (row.state !== "unknown") throw new NotFoundError(`survey ${id} is ${row.state}, not unknown`);
  const again = { state: "retrying", dueAt: tx.now, sentAt: null, reason: null, isAttempt: false } as const;
  if (as === "sent") await settleAsSent(tx, project, row);
  else await tx.requests.settle(row, again);
  return (await tx.deliveries.byId(project.id, id)) ?? row;
}

/** States that an answer or an unsubscribe by the message's own link proves wrong. */
const REFUTABLE: ReadonlySet<DeliveryRow["state"]> = new Set(["unknown", "retrying", "held", "failed"]);

/**
 * Somebody followed a link of the message: it has arrived, so it is `sent`, and not sent again. For each answer and
 * unsubscribe by a request's token.
 */
export async function noteEvidence(tx: Transaction, project: Project, requestId: number): Promise<void> {
  const row = await tx.deliveries.byId(project.id, requestId);
  if (row !== null && row.claimer === null && row.attempts > 0 && REFUTABLE.has(row.state))
    await settleAsSent(tx, project, row);
}

/** At the time of its mark. It counts as sent from then on, once. */
async function settleAsSent(tx: Transaction, project: Project, row: DeliveryRow): Promise<void> {
  const sentAt = row.transmittingAt ?? tx.now;
  const settled = await tx.requests.settle(row, { state: "sent", dueAt: null, sentAt, reason: null, isAttempt: false });
  if (!settled) return;
  const ended = { ...row, project };
  await noteSent(tx, ended, row.personId, sentAt);
  await continueAutopilot(tx, ended, row.personId, sentAt);
}
