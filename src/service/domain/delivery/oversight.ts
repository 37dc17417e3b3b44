import { CHANNELS } from "../../../contract/routes.ts";
import { describeSurveyStatus } from "../../../contract/text/survey-status.ts";
import { DAY_SECONDS } from "../../../runtime/zone.ts";
import type { WallClock } from "../../../runtime/zone.ts";
import { isE164 } from "../../../contract/text/phone.ts";
import type { Project } from "../inputs.ts";
import type {
  AttemptRow,
  DeliveryRow,
  DeliveryState,
  PersonRow,
  ProjectRow,
  ChannelQueue,
  Store,
  Suppression,
  Transaction,
  UnscheduledRow,
  Waiting,
} from "../ports.ts";
import { readWallClock } from "../projects/settings.ts";
import { nextOpening } from "./pacing.ts";
import { DELIVERY_STATES, WAITING_STATES } from "./queue-rows.ts";
import { remindedQueues } from "./reminders.ts";

export interface QueueSummary {
  readonly states: Readonly<Record<DeliveryState, number>>;
  readonly waiting: Readonly<Partial<Record<DeliveryState, number>>>;
  readonly unknown: number;
  /** When the survey that has waited longest became due; null if none is due. */
  readonly oldestDueAt: number | null;
  readonly oldestDueSeconds: number;
}

/** Reads only maintained counts and the first entries of indexes, so its cost doesn't depend on the queue's length. */
export async function summarizeQueue(tx: Transaction): Promise<QueueSummary> {
  const states = Object.fromEntries(DELIVERY_STATES.map((state) => [state, 0])) as Record<DeliveryState, number>;
  for (const { state, count } of await tx.deliveries.counts()) states[state] += count;
  // Includes paused projects, so that a forgotten pause is noticed.
  const dueAt = await tx.queue.nextDueAt(CHANNELS.map((channel) => ({ channel, withPaused: true })));
  const oldestDueAt = dueAt !== null && dueAt <= tx.now ? dueAt : null;
  return {
    states,
    waiting: Object.fromEntries(WAITING_STATES.map((state) => [state, states[state]])),
    unknown: states.unknown,
    oldestDueAt,
    oldestDueSeconds: oldestDueAt === null ? 0 : tx.now - oldestDueAt,
  };
}

export interface ProjectWaiting {
  readonly count: number;
  /** When the next message can be sent; null if that is now, or if no message is waiting. */
  readonly until: number | null;
}

export async function readWaiting(
  tx: Transaction,
  project: Pick<ProjectRow, "id" | "limitedUntil">,
): Promise<ProjectWaiting> {
  const kinds = await tx.deliveries.waiting(project.id);
  let count = 0;
  let until: number | null = null;
  for (const kind of kinds) {
    const at = await nextMoment(tx, project, kind);
    until = Math.min(until ?? at, at);
    count += kind.count;
  }
  return { count, until: until === tx.now ? null : until };
}

/** Surveys outside Autopilot have no window. */
async function nextMoment(
  tx: Transaction,
  { id, limitedUntil }: Pick<ProjectRow, "id" | "limitedUntil">,
  { channel, isAutopilot, dueAt }: Waiting,
): Promise<number> {
  const at = Math.max(tx.now, limitedUntil ?? 0, dueAt);
  if (!isAutopilot && (channel === "email" || channel === "sms")) return at;
  return nextOpening(tx, { id }, channel, at);
}

const DUE_COUNTED_MAX = 10_000;

/** Counts up to 10,000 surveys and reminders, including those of paused projects. */
export async function countDue(tx: Transaction): Promise<number> {
  const before = tx.now + 1;
  return tx.deliveries.countOverdue(await listQueues(tx, before), { before }, DUE_COUNTED_MAX);
}

/** Skips projects that wait for their daily limit, and reminders that are switched off. */
async function listQueues(tx: Transaction, before: number): Promise<readonly ChannelQueue[]> {
  const queues: ChannelQueue[] = [];
  for (const project of await tx.projects.list()) {
    if ((project.limitedUntil ?? 0) > before) continue;
    const channels = [...CHANNELS, ...(await remindedQueues(tx, project))];
    queues.push(...channels.map((channel) => ({ project: project.id, channel })));
  }
  return queues;
}

export interface PersonHistory {
  /** Null if no one has the address. An address without a person can be suppressed too. */
  readonly person: PersonRow | null;
  readonly suppressions: readonly Suppression[];
  /** When the phone number opted out of text messages, or null. */
  readonly stoppedAt: number | null;
  readonly surveys: readonly (DeliveryRow & { readonly log: readonly AttemptRow[] })[];
  readonly unscheduled: readonly UnscheduledRow[];
  readonly explanation: string;
}

const SURVEYS_SHOWN = 50;
const ATTEMPTS_SHOWN = 20;
const UNSCHEDULED_SHOWN = 50;

export async function explainPerson(tx: Transaction, project: Project, address: string): Promise<PersonHistory> {
  const isPhone = isE164(address);
  const person = isPhone ? await tx.people.byPhone(project.id, address) : await tx.people.byEmail(project.id, address);
  const email = isPhone ? (person?.email ?? null) : address;
  const phone = isPhone ? address : (person?.phoneNumber ?? null);
  const suppressions = email === null ? [] : await tx.suppressions.list(project.id, "email", email);
  const stops = phone === null ? [] : await tx.suppressions.list(project.id, "sms", phone);
  const stoppedAt = stops[0]?.at ?? null;
  const rows = person === null ? [] : await tx.deliveries.ofPerson(project.id, person.id, SURVEYS_SHOWN);
  const surveys = [];
  for (const survey of rows)
    surveys.push({ ...survey, log: await tx.deliveries.attempts(project.id, survey.requestId, ATTEMPTS_SHOWN) });
  const isPaused = (await tx.senders.pausedSince(project.id)) !== null;
  const [newest] = surveys;
  const isStopped = stoppedAt !== null && (isPhone || newest?.channel === "sms");
  const unscheduled = person === null ? [] : await tx.unscheduled.ofPerson(project.id, person.id, UNSCHEDULED_SHOWN);
  const refused = explainUnscheduled(unscheduled[0], newest, await readWallClock(tx, project));
  const log = surveys.flatMap((survey) => survey.log);
  const left = log.find(({ outcome, at }) => outcome === "unsubscribed" && at === person?.unsubscribedAt)?.text ?? null;
  const explanation = isStopped ? STOPPED : explain(person, suppressions, { newest, refused, left }, isPaused);
  return { person, suppressions, stoppedAt, surveys, unscheduled, explanation };
}

/** Why the last request wasn't scheduled; empty if it was. */
function explainUnscheduled(
  unscheduled: UnscheduledRow | undefined,
  newest: PersonHistory["surveys"][number] | undefined,
  wallClock: WallClock,
): string {
  if (unscheduled === undefined || (newest !== undefined && newest.createdAt > unscheduled.at)) return "";
  const last = newest === undefined ? "No survey was scheduled" : "The last one that was asked for was not scheduled";
  return `${last}: ${describeSurveyStatus(unscheduled.status, wallClock)}.`;
}

const STOPPED = "No text messages: this number has asked for no more.";

interface Explained {
  readonly newest: PersonHistory["surveys"][number] | undefined;
  readonly refused: string;
  /** How the person unsubscribed, if the delivery log has it; null if they used one of this server's pages. */
  readonly left: string | null;
}

function explain(
  person: PersonRow | null,
  suppressions: readonly Suppression[],
  { newest, refused, left }: Explained,
  isPaused: boolean,
): string {
  const has = (reason: Suppression["reason"]): boolean => suppressions.some((one) => one.reason === reason);
  if (has("complaint") && has("unsubscribe")) return "No mail: this person reported a survey as spam.";
  if (has("unsubscribe") || (person?.unsubscribedAt ?? null) !== null)
    return `No mail: this person has unsubscribed${left === null ? "" : ` (${left})`}.`;
  if (has("bounce") || (person?.bouncedAt ?? null) !== null) return "No mail: this address has bounced.";
  if (newest === undefined) return refused === "" ? "No survey was scheduled for this person." : refused;
  return `${explainSurvey(newest, isPaused)}${refused === "" ? "" : ` ${refused}`}`;
}

function explainSurvey(newest: PersonHistory["surveys"][number], isPaused: boolean): string {
  const said = newest.log.at(-1);
  const about = newest.reason === null ? "" : `: ${newest.reason}`;
  const paused = isPaused && newest.state === "scheduled" ? "; sending is paused" : "";
  const survey = `The newest survey (${newest.requestId}) is ${newest.state}`;
  if (newest.state === "sent") return `${survey}.`;
  const attempt = newest.reason === null && said !== undefined ? describeAttempt(said) : "";
  return `${survey}${about}${paused}.${attempt}`;
}

type Said = Pick<AttemptRow, "stage" | "code" | "enhancedCode" | "text">;

/** Null if there are neither codes nor text. */
export function wordsOfAttempt(attempt: Said): string | null {
  const words = codesAndText(attempt);
  return words === "" ? null : `${attempt.stage} ${words}`;
}

/** Returns a sentence with a leading space, or an empty string if nothing is known. */
function describeAttempt(attempt: Said): string {
  const words = codesAndText(attempt);
  return words === "" ? "" : ` The last attempt ended at ${attempt.stage}: ${words.replace(/[.\s]+$/, "")}.`;
}

function codesAndText({ code, enhancedCode, text }: Said): string {
  return [code, enhancedCode, text].filter((part) => part !== null).join(" ");
}

/** Null pauses all projects, including future ones. */
export async function pauseSending(tx: Transaction, project: Project | null): Promise<void> {
  await (project === null ? tx.senders.setPaused(tx.now) : tx.projects.setPaused(project.id, tx.now));
}

/** Null ends the pause of everything; individually paused projects stay paused. */
export async function resumeSending(tx: Transaction, project: Project | null): Promise<void> {
  if (project !== null) return tx.projects.setPaused(project.id, null);
  await tx.senders.setPaused(null);
  await tx.senders.setState("resumed", tx.now);
}

/** The reason is null if an operator paused everything. */
export interface Pause {
  readonly at: number;
  readonly reason: string | null;
}

export async function readPause(tx: Transaction): Promise<Pause | null> {
  const at = await tx.senders.pausedAt();
  return at === null ? null : { at, reason: await tx.senders.state("pause reason") };
}

const RELEASED_A_STEP = 500;

/** Releases messages in several transactions. Returns how many. */
export async function releaseAll(
  store: Pick<Store, "write">,
  release: (tx: Transaction, limit: number) => Promise<number>,
): Promise<number> {
  let released = 0;
  for (let step = RELEASED_A_STEP; step === RELEASED_A_STEP; released += step)
    step = await store.write((tx) => release(tx, RELEASED_A_STEP), { project: "all" });
  return released;
}

const BULK_MIN = 20;

/** True if at least 20 surveys and reminders are a day overdue, after a restore or a long outage. */
export async function isOverdueInBulk(tx: Transaction): Promise<boolean> {
  const before = tx.now - DAY_SECONDS;
  return (await tx.deliveries.countOverdue(await listQueues(tx, before), { before }, BULK_MIN)) === BULK_MIN;
}

const GUARDED_MAX = 50;

/** Pauses everything if many surveys are a day overdue, because another copy of the data may have sent them. */
export async function guardOverdue(tx: Transaction): Promise<void> {
  if ((await tx.senders.pausedAt()) !== null) return;
  const due = { since: (await tx.senders.state("resumed")) ?? 0, before: tx.now - DAY_SECONDS };
  const queues = await listQueues(tx, due.before);
  if ((await tx.deliveries.countOverdue(queues, due, GUARDED_MAX + 1)) <= GUARDED_MAX) return;
  const hasReminders = queues.some(({ channel }) => channel === "reminder" || channel === "sms-reminder");
  const counted = hasReminders ? "surveys and reminders" : "surveys";
  await tx.senders.setPaused(tx.now, `more than ${GUARDED_MAX} ${counted} were due more than 24 hours ago`);
}

/** Returns the number of messages held. Fewer than `limit` means that none are left. */
export async function holdOverdue(
  tx: Transaction,
  { maxAgeSeconds, limit }: { readonly maxAgeSeconds: number; readonly limit: number },
): Promise<number> {
  const before = tx.now - maxAgeSeconds;
  return tx.deliveries.holdOverdue(await listQueues(tx, before), before, limit);
}

const ATTEMPTS_KEPT_SECONDS = 90 * 86_400;

/** Deletes attempts and reports older than 90 days. True if there may be more. */
export async function pruneAttempts(tx: Transaction, limit: number): Promise<boolean> {
  const before = tx.now - ATTEMPTS_KEPT_SECONDS;
  const reports = await tx.reports.prune(before, limit);
  const texts = await tx.texts.prune({ parts: tx.now - DAY_SECONDS, replies: before }, limit);
  return (await tx.deliveries.pruneAttempts(before, limit)) === limit || reports === limit || texts >= limit;
}

const UNSCHEDULED_KEPT_SECONDS = 400 * 86_400;

/** True if there may be more. */
export async function pruneUnscheduled(tx: Transaction, limit: number): Promise<boolean> {
  return (await tx.unscheduled.prune(tx.now - UNSCHEDULED_KEPT_SECONDS, limit)) === limit;
}
