/** The operators' view of deliveries, and the ways to stop and resume them. */
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
import { DELIVERY_STATES } from "./queue-rows.ts";
import { remindedQueues } from "./reminders.ts";

const WAITING: readonly DeliveryState[] = ["scheduled", "claimed", "transmitting", "retrying", "held"];

export interface QueueSummary {
  /** The number of surveys of all projects in each state. */
  readonly states: Readonly<Record<DeliveryState, number>>;
  /** The same of those that are still to be sent. */
  readonly waiting: Readonly<Partial<Record<DeliveryState, number>>>;
  readonly unknown: number;
  /** When the survey that has waited longest was due, paused or not; null when none is due. */
  readonly oldestDueAt: number | null;
  /** 0 when nothing is due. */
  readonly oldestDueSeconds: number;
}

/** Out of counts that are kept and the first entries of indexes: its cost does not grow with the queue. */
export async function summarizeQueue(tx: Transaction): Promise<QueueSummary> {
  const states = Object.fromEntries(DELIVERY_STATES.map((state) => [state, 0])) as Record<DeliveryState, number>;
  for (const { state, count } of await tx.deliveries.counts()) states[state] += count;
  // A pause that was forgotten must show.
  const dueAt = await tx.queue.nextDueAt(CHANNELS.map((channel) => ({ channel, withPaused: true })));
  const oldestDueAt = dueAt !== null && dueAt <= tx.now ? dueAt : null;
  return {
    states,
    waiting: Object.fromEntries(WAITING.map((state) => [state, states[state]])),
    unknown: states.unknown,
    oldestDueAt,
    oldestDueSeconds: oldestDueAt === null ? 0 : tx.now - oldestDueAt,
  };
}

/** The surveys and reminders of a project that should have left by now. */
export interface ProjectWaiting {
  readonly count: number;
  /** The next moment at which one of them can leave; null where one can now, or none waits. */
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

/** Single surveys have no window. */
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

/**
 * The number of surveys and reminders that should be sent by now, those of paused projects among them; at most 10,000
 * are counted.
 */
export async function countDue(tx: Transaction): Promise<number> {
  const before = tx.now + 1;
  return tx.deliveries.countOverdue(await listQueues(tx, before), { before }, DUE_COUNTED_MAX);
}

/**
 * The queues of which something is overdue that was due before `before`: what waited for a day's limit is not before
 * that wait has ended, and reminders that are off are not sent.
 */
async function listQueues(tx: Transaction, before: number): Promise<readonly ChannelQueue[]> {
  const queues: ChannelQueue[] = [];
  for (const project of await tx.projects.list()) {
    if ((project.limitedUntil ?? 0) > before) continue;
    const channels = [...CHANNELS, ...(await remindedQueues(tx, project))];
    queues.push(...channels.map((channel) => ({ project: project.id, channel })));
  }
  return queues;
}

/** All that decides whether a person gets mail, and what became of each survey. */
export interface PersonHistory {
  /** Null when there is none; the address may be suppressed nevertheless. */
  readonly person: PersonRow | null;
  /** Of the e-mail address. */
  readonly suppressions: readonly Suppression[];
  /** Since when the number gets no text messages; null while it does, or there is none. */
  readonly stoppedAt: number | null;
  /** Newest first. */
  readonly surveys: readonly (DeliveryRow & { readonly log: readonly AttemptRow[] })[];
  /** Surveys that were asked for and not scheduled, newest first. */
  readonly unscheduled: readonly UnscheduledRow[];
  /** The reason why the person gets mail or does not, one sentence or two. */
  readonly explanation: string;
}

const SURVEYS_SHOWN = 50;
const ATTEMPTS_SHOWN = 20;
const UNSCHEDULED_SHOWN = 50;

/** The last 50 surveys of the person with this e-mail address or phone number, and the last 20 attempts of each. */
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

/** The survey that was asked for last, where it was not scheduled; empty where it was. */
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
  /** As `explainUnscheduled` has it. */
  readonly refused: string;
  /** Where the person left; null if that was here. */
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

/** Stage, codes and words of an attempt; null for one without codes and words. */
export function wordsOfAttempt(attempt: Said): string | null {
  const words = codesAndText(attempt);
  return words === "" ? null : `${attempt.stage} ${words}`;
}

/** A sentence, with a space before it; empty where nothing is known of the attempt. */
function describeAttempt(attempt: Said): string {
  const words = codesAndText(attempt);
  return words === "" ? "" : ` The last attempt ended at ${attempt.stage}: ${words.replace(/[.\s]+$/, "")}.`;
}

function codesAndText({ code, enhancedCode, text }: Said): string {
  return [code, enhancedCode, text].filter((part) => part !== null).join(" ");
}

/** Stops sending for one project, or with null for all, also those that are made later. */
export async function pauseSending(tx: Transaction, project: Project | null): Promise<void> {
  await (project === null ? tx.senders.setPaused(tx.now) : tx.projects.setPaused(project.id, tx.now));
}

/** Ends a pause of one project, or with null that of all. */
export async function resumeSending(tx: Transaction, project: Project | null): Promise<void> {
  if (project !== null) return tx.projects.setPaused(project.id, null);
  await tx.senders.setPaused(null);
  await tx.senders.setResumed(tx.now);
}

/** Since when nothing is sent at all, and why; the reason is null where an operator has paused it. */
export interface Pause {
  readonly at: number;
  readonly reason: string | null;
}

export async function readPause(tx: Transaction): Promise<Pause | null> {
  const at = await tx.senders.pausedAt();
  return at === null ? null : { at, reason: await tx.senders.pauseReason() };
}

const OVERDUE = "overdue when the service started";

/**
 * Makes what is held due now, some at a time; not what was overdue at a start, which is for the operator alone to
 * release. How many; less than the limit when none is left.
 */
export async function releaseHeld(tx: Transaction, limit: number): Promise<number> {
  return tx.deliveries.releaseHeld(limit, { reason: OVERDUE, areReleased: false });
}

/** As `releaseHeld`, and what was overdue at a start too; its age counts from then on. */
export async function releaseForOperator(tx: Transaction, limit: number): Promise<number> {
  return tx.deliveries.releaseHeld(limit, { reason: OVERDUE, areReleased: true });
}

const RELEASED_A_STEP = 500;

/** Repeats a release until nothing is left, each step in a transaction of its own; how many in all. */
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

/**
 * True when 20 surveys and reminders or more are overdue by a day: the data file was restored, or the service had
 * stopped for long.
 */
export async function isOverdueInBulk(tx: Transaction): Promise<boolean> {
  const before = tx.now - DAY_SECONDS;
  return (await tx.deliveries.countOverdue(await listQueues(tx, before), { before }, BULK_MIN)) === BULK_MIN;
}

const GUARDED_MAX = 50;

/**
 * Pauses everything when more than 50 surveys and reminders are overdue by a day, but for those that were due when an
 * operator last resumed: a copy of the data may have sent them long ago.
 */
export async function guardOverdue(tx: Transaction): Promise<void> {
  if ((await tx.senders.pausedAt()) !== null) return;
  const due = { since: (await tx.senders.resumedAt()) ?? 0, before: tx.now - DAY_SECONDS };
  const queues = await listQueues(tx, due.before);
  if ((await tx.deliveries.countOverdue(queues, due, GUARDED_MAX + 1)) <= GUARDED_MAX) return;
  const hasReminders = queues.some(({ channel }) => channel === "reminder" || channel === "sms-reminder");
  const counted = hasReminders ? "surveys and reminders" : "surveys";
  await tx.senders.setPaused(tx.now, `more than ${GUARDED_MAX} ${counted} were due more than 24 hours ago`);
}

/**
 * Holds surveys and reminders that were due longer ago than this, some at a time. How many; less than the limit when
 * none is left.
 */
export async function holdOverdue(
  tx: Transaction,
  { maxAgeSeconds, limit }: { readonly maxAgeSeconds: number; readonly limit: number },
): Promise<number> {
  const before = tx.now - maxAgeSeconds;
  return tx.deliveries.holdOverdue(await listQueues(tx, before), before, { reason: OVERDUE, limit });
}

const ATTEMPTS_KEPT_SECONDS = 90 * 86_400;

/** Forgets attempts and reports of more than 90 days ago, some at a time. Whether there may be more. */
export async function pruneAttempts(tx: Transaction, limit: number): Promise<boolean> {
  const before = tx.now - ATTEMPTS_KEPT_SECONDS;
  const reports = await tx.reports.prune(before, limit);
  const texts = await tx.texts.prune({ parts: tx.now - DAY_SECONDS, replies: before }, limit);
  return (await tx.deliveries.pruneAttempts(before, limit)) === limit || reports === limit || texts >= limit;
}
