/** Each week's digest is sent at most once. */
import { settleClaim } from "./claims.ts";
import { emailKey } from "../../../contract/text/email.ts";
import { createWallClock, DAY_SECONDS, firstSecond, toCalendarDay, toMoment } from "../../../runtime/zone.ts";
import { InvalidError, NotFoundError } from "../errors.ts";
import { parseId } from "../ids.ts";
import type { Project } from "../inputs.ts";
import type { DeliveryChange, DigestRow, DigestSchedule, DueDigest, Transaction } from "../ports.ts";
import { readSettings } from "../projects/settings.ts";
import { checkDigestTarget, shownTarget } from "../webhooks/digest-targets.ts";
import type { DeliveryOutcome, DeliveryResult } from "./sender.ts";

/** A digest that is later than this is no longer worth sending. */
const LATE_SECONDS = 3 * DAY_SECONDS;
/** Even if the schedule is changed on the day of a digest, the next one isn't sent on the same day. */
const APART_SECONDS = 20 * 3_600;
const HELD_SECONDS = 3_600;
const RELEASED_SECONDS_MIN = 30;
const UNDO_SECONDS = 30 * DAY_SECONDS;

export function formatMinute(minute: number): string {
  return [Math.floor(minute / 60), minute % 60].map((part) => String(part).padStart(2, "0")).join(":");
}

/** Parses a time of day such as `08:00` into minutes after midnight; null if it isn't one. */
export function readMinute(text: string): number | null {
  const [, hour = "", minute = ""] = /^(\d{1,2}):(\d\d)$/.exec(text.trim()) ?? [];
  return hour === "" || Number(hour) > 23 || Number(minute) > 59 ? null : Number(hour) * 60 + Number(minute);
}

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
  /** The seven days before the digest's day, in Unix seconds, inclusive. */
  readonly since: number;
  readonly until: number;
  readonly before: number;
}

/** A digest covers whole days in its time zone, so that weeks neither overlap nor have gaps. */
export function digestWeek(periodAt: number, zone: string): DigestWeek {
  const wallClock = createWallClock(zone);
  const { day, ...month } = toCalendarDay(wallClock(periodAt));
  const start = (back: number): number => firstSecond({ ...month, day: day - back }, wallClock);
  return { since: start(7), until: start(0) - 1, before: start(14) };
}

export async function digestZone(tx: Transaction, { project, zone }: Pick<DigestRow, "project" | "zone">) {
  return zone ?? (await readSettings(tx, project)).timeZone ?? "UTC";
}

const KEPT_SECONDS = 90 * DAY_SECONDS;

async function addWeek(tx: Transaction, digest: DigestRow, after: number): Promise<void> {
  const dueAt = nextDigestAt(digest, await digestZone(tx, digest), after);
  await tx.digests.addWeek(digest.project.id, digest.id, { dueAt, before: tx.now - KEPT_SECONDS });
}

/** Reschedules a pending digest. If one is in flight, the next is scheduled when it ends. */
async function replaceWeek(tx: Transaction, digest: DigestRow): Promise<void> {
  if (digest.claimer !== null) return;
  await tx.digests.dropWeek(digest.project.id, digest.id);
  await addWeek(tx, digest, tx.now);
}

/** `allowPrivate` allows Slack URLs with private or loopback addresses; false by default. */
export type DigestSettings = DigestSchedule & { readonly allowPrivate?: boolean };

/** Adds a digest, or changes the schedule of this address or Slack URL. Throws InvalidError. */
export async function addDigest(
  tx: Transaction,
  project: Project,
  email: string,
  { allowPrivate = false, ...schedule }: DigestSettings,
): Promise<DigestRow> {
  checkDigestTarget(email, allowPrivate);
  const known = await findDigest(tx, project, email);
  if (known !== undefined && known.unsubscribedAt !== null)
    throw new InvalidError({ target: ["has unsubscribed from the digest; remove it first"] });
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

async function requireDigest(tx: Transaction, project: Project, name: string): Promise<DigestRow> {
  const found = await findDigest(tx, project, name);
  if (found === undefined) throw new NotFoundError(`project ${project.name} has no digest ${shownTarget(name)}`);
  return found;
}

/** `name` is an id or an address. Throws NotFoundError. */
export async function removeDigest(tx: Transaction, project: Project, name: string): Promise<DigestRow> {
  const digest = await requireDigest(tx, project, name);
  await tx.digests.delete(project.id, digest.id);
  return digest;
}

/** Digests that are claimed but not yet being sent are dropped too. */
export async function removeDigestsTo(tx: Transaction, project: Project, email: string): Promise<void> {
  for (const digest of await tx.digests.list(project.id))
    if (emailKey(digest.email) === emailKey(email)) await tx.digests.delete(project.id, digest.id);
}

/**
 * Recalls unsent digests so that they don't mention a removed person: deletes e-mails in an outbox, and restarts
 * digests that are being rendered.
 */
export async function recallDigests(tx: Transaction, project: Project): Promise<void> {
  for (const digest of await tx.digests.list(project.id)) await tx.digests.eraseMails(project.id, digest);
  await tx.digests.takeBack(project.id, tx.now + RELEASED_SECONDS_MIN);
}

/**
 * Null if there is nothing to send. After downtime, only the newest week is sent, and only if it is at most three days
 * late.
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
  // A week before `due.scheduledAt` wasn't missed: it results from a change of the schedule or time zone.
  const isLate = isNew && periodAt >= due.scheduledAt;
  await tx.digests.setWeek(due, isLate ? periodAt : nextAt);
  const reason = isLate ? (due.reason ?? "too late") : null;
  const state = isLate ? "failed" : "scheduled";
  await settleClaim(tx, due, { state, dueAt: isLate ? null : nextAt, sentAt: null, reason, isAttempt: false });
  if (isLate) await continueDigest(tx, chosen, "failed");
  return null;
}

/** How to end an unwanted digest; null if it is still wanted. Read-only. */
export async function mayStillSendDigest(tx: Transaction, due: DueDigest): Promise<DeliveryOutcome | null> {
  const digest = await tx.digests.byId(due.project.id, due.digestId);
  const isWanted = digest !== null && digest.unsubscribedAt === null;
  return isWanted ? null : { kind: "cancelled", reason: "no longer wanted" };
}

/**
 * Unlike for surveys, `reason` has the last reply, which the list of digests shows, and a held digest is retried after
 * an hour.
 */
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

/** A digest that was cancelled while its file was being written has lost its claim, so its file is deleted. */
export async function eraseLostDigest(tx: Transaction, due: DueDigest, outcome: DeliveryOutcome): Promise<void> {
  const { project, digestId: id, token } = due;
  if (outcome.kind === "sent") await tx.digests.eraseMails(project.id, { id, token });
}

const CONTINUES: ReadonlySet<DeliveryOutcome["kind"]> = new Set(["sent", "unknown", "failed", "cancelled"]);

export async function continueDigest(
  tx: Transaction,
  { project, digestId, scheduledAt }: DueDigest,
  how: DeliveryOutcome["kind"],
): Promise<void> {
  if (!CONTINUES.has(how)) return;
  const digest = await tx.digests.byId(project.id, digestId);
  if (digest !== null && digest.unsubscribedAt === null) await addWeek(tx, digest, Math.max(tx.now, scheduledAt));
}

export function mayReturnToDigest({ now }: Transaction, { unsubscribedAt }: DigestRow): boolean {
  return unsubscribedAt === null || now - unsubscribedAt <= UNDO_SECONDS;
}

/** Returns true if the digest is now as requested. Undoing works for 30 days. */
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

/** Stores nothing. `name` is an id, or any address or Slack URL. Throws NotFoundError, InvalidError. */
export async function digestNow(tx: Transaction, project: Project, name: string): Promise<DueDigest> {
  const known = parseId(name) === null ? await findDigest(tx, project, name) : await requireDigest(tx, project, name);
  if (known === undefined) {
    checkDigestTarget(name, false);
    return sampleDigest(tx, project, name);
  }
  if (known.unsubscribedAt !== null) throw new InvalidError({ target: ["has unsubscribed from the digest"] });
  const { email, token, weekday, allowPrivate } = known;
  const own = { email, token, weekday, allowPrivate, zone: await digestZone(tx, known) };
  return { ...(await sampleDigest(tx, project, email)), ...own };
}

/** Returns a digest of the seven days before today, for previews. */
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
