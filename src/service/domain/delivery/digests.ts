/** The weekly digest by mail: who gets it, when it is due, and that each week's goes out at most once. */
import { emailKey } from "../../../contract/text/email.ts";
import { createWallClock, DAY_SECONDS, firstSecond, toCalendarDay, toMoment } from "../../../runtime/zone.ts";
import { InvalidError, NotFoundError } from "../errors.ts";
import { parseId } from "../ids.ts";
import type { Project } from "../inputs.ts";
import type { DeliveryChange, DigestRow, DigestSchedule, DueDigest, Transaction } from "../ports.ts";
import { readSettings } from "../projects/settings.ts";
import { checkDigestTarget, shownTarget } from "../webhooks/digest-targets.ts";
import type { DeliveryOutcome, DeliveryResult } from "./sender.ts";

/** A digest that is later than this says nothing new any more. */
const LATE_SECONDS = 3 * DAY_SECONDS;
/** A schedule that is changed on the day of a mail brings no second one that day. */
const APART_SECONDS = 20 * 3_600;
const HELD_SECONDS = 3_600;
const RELEASED_SECONDS_MIN = 30;
/** Within this time one click takes it back. */
const UNDO_SECONDS = 30 * DAY_SECONDS;

/** `08:00` of a minute of the day. */
export function formatMinute(minute: number): string {
  return [Math.floor(minute / 60), minute % 60].map((part) => String(part).padStart(2, "0")).join(":");
}

/**
 * The first time of the schedule after a moment, both Unix seconds. Where clocks jump over it, as much after the jump.
 */
export function nextDigestAt({ weekday, minute }: DigestSchedule, zone: string, after: number): number {
  const wallClock = createWallClock(zone);
  const { year, month, day } = toCalendarDay(wallClock(after));
  for (let ahead = 0; ; ahead += 1) {
    const midnight = Date.UTC(year, month - 1, day + ahead) / 1000;
    const at = toMoment(midnight + minute * 60, wallClock);
    if (new Date(midnight * 1000).getUTCDay() === weekday && at > after) return at;
  }
}

function latestDigestAt(schedule: DigestSchedule, zone: string, now: number): number {
  let latest = nextDigestAt(schedule, zone, now - 9 * DAY_SECONDS);
  for (let next = latest; next <= now; next = nextDigestAt(schedule, zone, next)) latest = next;
  return latest;
}

export interface DigestWeek {
  /** The seven days before the day of the mail, Unix seconds, inclusive. */
  readonly since: number;
  readonly until: number;
  /** The first second of the seven days before those. */
  readonly before: number;
}

/** The range of a digest: whole days in its zone, so that weeks neither overlap nor leave a gap. */
export function digestWeek(periodAt: number, zone: string): DigestWeek {
  const wallClock = createWallClock(zone);
  const { day, ...month } = toCalendarDay(wallClock(periodAt));
  const start = (back: number): number => firstSecond({ ...month, day: day - back }, wallClock);
  return { since: start(7), until: start(0) - 1, before: start(14) };
}

/** The zone of a digest: its own, else the project's, else UTC. */
export async function digestZone(tx: Transaction, { project, zone }: Pick<DigestRow, "project" | "zone">) {
  return zone ?? (await readSettings(tx, project)).timeZone ?? "UTC";
}

const KEPT_SECONDS = 90 * DAY_SECONDS;

/** Puts the first week after a moment, Unix seconds, into the queue. */
async function addWeek(tx: Transaction, digest: DigestRow, after: number): Promise<void> {
  const dueAt = nextDigestAt(digest, await digestZone(tx, digest), after);
  await tx.digests.addWeek(digest.project.id, digest.id, { dueAt, before: tx.now - KEPT_SECONDS });
}

/** A week in flight is followed by the next one at its end; one that waits is replaced. */
async function replaceWeek(tx: Transaction, digest: DigestRow): Promise<void> {
  if (digest.claimer !== null) return;
  await tx.digests.dropWeek(digest.project.id, digest.id);
  await addWeek(tx, digest, tx.now);
}

/** `allowPrivate` lets a Slack URL lead to private and loopback addresses; false by default. */
export type DigestWish = DigestSchedule & { readonly allowPrivate?: boolean };

/** Adds one, or gives the one of this address or Slack URL another schedule. Throws InvalidError. */
export async function addDigest(
  tx: Transaction,
  project: Project,
  email: string,
  { allowPrivate = false, ...schedule }: DigestWish,
): Promise<DigestRow> {
  checkDigestTarget(email, allowPrivate);
  const known = await findDigest(tx, project, email);
  if (known !== undefined && known.unsubscribedAt !== null)
    throw new InvalidError({ email: ["has unsubscribed from the digest; remove it first"] });
  if (known === undefined) await tx.digests.insert(project.id, { ...schedule, allowPrivate, email, token: tx.token() });
  else await tx.digests.change(project.id, known.id, { ...schedule, allowPrivate: allowPrivate ? 1 : 0 });
  await replaceWeek(tx, await requireDigest(tx, project, email));
  return requireDigest(tx, project, email);
}

async function findDigest(tx: Transaction, project: Project, name: string): Promise<DigestRow | undefined> {
  const id = parseId(name);
  return (await tx.digests.list(project.id)).find((each) =>
    id === null ? emailKey(each.email) === emailKey(name) : each.id === id,
  );
}

/** As `findDigest`. Throws NotFoundError. */
async function requireDigest(tx: Transaction, project: Project, name: string): Promise<DigestRow> {
  const found = await findDigest(tx, project, name);
  if (found === undefined) throw new NotFoundError(`project ${project.name} has no digest ${shownTarget(name)}`);
  return found;
}

/** By id or address; what was removed. Throws NotFoundError. */
export async function removeDigest(tx: Transaction, project: Project, name: string): Promise<DigestRow> {
  const digest = await requireDigest(tx, project, name);
  await tx.digests.delete(project.id, digest.id);
  return digest;
}

/** Removes those to an address; a mail that is claimed is not sent. */
export async function removeDigestsTo(tx: Transaction, project: Project, email: string): Promise<void> {
  for (const digest of await tx.digests.list(project.id))
    if (emailKey(digest.email) === emailKey(email)) await tx.digests.delete(project.id, digest.id);
}

/**
 * Takes back what digests say of a person: mails in an outbox go, and one that is being written is written anew. What a
 * mail server is given at this moment cannot be taken back.
 */
export async function recallDigests(tx: Transaction, project: Project): Promise<void> {
  for (const digest of await tx.digests.list(project.id)) await tx.digests.eraseMails(project.id, digest);
  await tx.digests.takeBack(project.id, tx.now + RELEASED_SECONDS_MIN);
}

/**
 * Chooses what a claimed digest tells of; null when it tells nothing now. Of weeks in which no process ran, only the
 * last is told of; one that is three days late is left out. An earlier attempt has chosen already.
 */
export async function chooseWeek(tx: Transaction, due: DueDigest): Promise<DueDigest | null> {
  const zone = await digestZone(tx, due);
  const isAgain = due.attempts > 0;
  const periodAt = isAgain ? due.scheduledAt : latestDigestAt(due, zone, tx.now);
  const isNew = isAgain || (periodAt > due.createdAt && periodAt - (due.previousAt ?? 0) >= APART_SECONDS);
  const chosen = { ...due, zone, scheduledAt: periodAt };
  if (isNew && tx.now - periodAt <= LATE_SECONDS) {
    if (periodAt !== due.scheduledAt) await tx.digests.setWeek(due, periodAt);
    return chosen;
  }
  const nextAt = nextDigestAt(due, zone, tx.now);
  // After a change of the schedule or the zone the time before it counts as none that was missed.
  const isLate = isNew && periodAt >= due.scheduledAt;
  await tx.digests.setWeek(due, isLate ? periodAt : nextAt);
  await tx.queue.settle(due, isLate ? tooLate(due) : { ...WAITING, dueAt: nextAt });
  if (isLate) await continueDigest(tx, chosen, "failed");
  return null;
}

const WAITING = { state: "scheduled", sentAt: null, reason: null, isAttempt: false } as const;

function tooLate({ reason }: DueDigest): DeliveryChange {
  return { state: "failed", dueAt: null, sentAt: null, reason: reason ?? "too late", isAttempt: false };
}

/** The end of a claimed digest that is no longer wanted; null while it is wanted. Reads only. */
export async function mayStillSendDigest(tx: Transaction, due: DueDigest): Promise<DeliveryOutcome | null> {
  const digest = await tx.digests.byId(due.project.id, due.digestId);
  const isWanted = digest !== null && digest.unsubscribedAt === null;
  return isWanted ? null : { kind: "cancelled", reason: "no longer wanted" };
}

/** The end of a digest differs from a survey's: its list shows the last words, and it is held for an hour only. */
export function toDigestChange(tx: Transaction, outcome: DeliveryResult, change: DeliveryChange): DeliveryChange {
  const ended = { ...change, reason: ("reason" in outcome ? outcome.reason : outcome.attempt?.text) ?? null };
  switch (outcome.kind) {
    case "held":
      return { ...ended, dueAt: tx.now + HELD_SECONDS };
    case "released":
      return { ...ended, dueAt: tx.now + Math.max(outcome.delaySeconds, RELEASED_SECONDS_MIN) };
    case "cancelled":
      return { ...ended, state: "failed" };
    default:
      return ended;
  }
}

/** A digest whose claim was lost was taken back while its file was written: the file goes. */
export async function eraseLostDigest(tx: Transaction, due: DueDigest, outcome: DeliveryOutcome): Promise<void> {
  const { project, digestId: id, token } = due;
  if (outcome.kind === "sent") await tx.digests.eraseMails(project.id, { id, token });
}

const CONTINUES: ReadonlySet<DeliveryOutcome["kind"]> = new Set(["sent", "unknown", "failed", "cancelled"]);

/** Schedules the week after one that has ended; none follows a bounce. */
export async function continueDigest(
  tx: Transaction,
  { project, digestId, scheduledAt }: DueDigest,
  how: DeliveryOutcome["kind"],
): Promise<void> {
  if (!CONTINUES.has(how)) return;
  const digest = await tx.digests.byId(project.id, digestId);
  if (digest !== null && digest.unsubscribedAt === null) await addWeek(tx, digest, Math.max(tx.now, scheduledAt));
}

/** Whether the link that ended a digest still brings it back. */
export function mayReturnToDigest({ now }: Transaction, { unsubscribedAt }: DigestRow): boolean {
  return unsubscribedAt === null || now - unsubscribedAt <= UNDO_SECONDS;
}

/** Ends a digest by the link of its mail, or takes that back within 30 days; whether it is as was asked for. */
export async function leaveDigest(tx: Transaction, token: string, how: "leave" | "undo"): Promise<boolean> {
  const digest = await tx.digests.byToken(token);
  if (digest === null) return false;
  const { project, id, unsubscribedAt } = digest;
  if (how === "leave") {
    if (unsubscribedAt === null) await tx.digests.change(project.id, id, { unsubscribedAt: tx.now });
    await tx.digests.dropWeek(project.id, id);
    return true;
  }
  if (unsubscribedAt === null) return true;
  if (!mayReturnToDigest(tx, digest)) return false;
  await tx.digests.change(project.id, id, { unsubscribedAt: null });
  await replaceWeek(tx, digest);
  return true;
}

/**
 * The digest that a reader would have now, by id, address or Slack URL; nothing is kept. An address or URL that has
 * none is taken too. Throws NotFoundError, InvalidError.
 */
export async function digestNow(tx: Transaction, project: Project, name: string): Promise<DueDigest> {
  const known = parseId(name) === null ? await findDigest(tx, project, name) : await requireDigest(tx, project, name);
  if (known === undefined) {
    checkDigestTarget(name, false);
    return sampleDigest(tx, project, name);
  }
  if (known.unsubscribedAt !== null) throw new InvalidError({ email: ["has unsubscribed from the digest"] });
  const { email, token, weekday, allowPrivate } = known;
  const own = { email, token, weekday, allowPrivate, zone: await digestZone(tx, known) };
  return { ...(await sampleDigest(tx, project, email)), ...own };
}

/** The digest that a project would have now, of the seven days before today; nobody gets it. */
export async function sampleDigest(tx: Transaction, project: Project, email: string): Promise<DueDigest> {
  const zone = await digestZone(tx, { project, zone: null });
  const { year, month, day } = toCalendarDay(createWallClock(zone)(tx.now));
  return {
    channel: "digest",
    project,
    requestId: 0,
    digestId: 0,
    email,
    allowPrivate: false,
    token: "preview",
    weekday: new Date(Date.UTC(year, month - 1, day)).getUTCDay(),
    minute: 0,
    zone,
    scheduledAt: tx.now,
    createdAt: tx.now,
    previousAt: null,
    reason: null,
    attempts: 0,
    firstAttemptAt: null,
    frozen: null,
    claimer: null,
    claims: 0,
  };
}
