/** The weekly digest by mail: who gets it, when it is due, and that each week's goes out at most once. */
import { emailKey, emailProblem } from "../../../contract/text/email.ts";
import { createWallClock, firstSecondOf, toCalendarDay, toMoment } from "../../../runtime/zone.ts";
import { InvalidError, NotFoundError } from "../errors.ts";
import { parseId } from "../ids.ts";
import type { Project } from "../inputs.ts";
import type { DigestChange, DigestRow, DigestSchedule, Transaction } from "../ports.ts";
import { readSettings } from "../projects/settings.ts";
import { retryDelaySeconds } from "./deliveries.ts";
import type { DeliveryOutcome } from "./sender.ts";

const DAY = 86_400;
/** A digest that is later than this says nothing new any more. */
const LATE_SECONDS = 3 * DAY;
/** A schedule that is changed on the day of a mail brings no second one that day. */
const APART_SECONDS = 20 * 3_600;
const HELD_SECONDS = 3_600;
const RELEASED_SECONDS_MIN = 30;
/** Within this time one click takes it back. */
const UNDO_SECONDS = 30 * DAY;

/** The first time of the schedule after a moment, both Unix seconds. Where clocks jump over it, as much after the jump. */
export function nextDigestAt({ weekday, minute }: DigestSchedule, zone: string, after: number): number {
  const wallClock = createWallClock(zone);
  const { year, month, day } = toCalendarDay(wallClock(after));
  for (let ahead = 0; ; ahead += 1) {
    const midnight = Date.UTC(year, month - 1, day + ahead) / 1000;
    const at = toMoment(midnight + minute * 60, wallClock);
    if (new Date(midnight * 1000).getUTCDay() === weekday && at > after) return at;
  }
}

/** The last time of the schedule at or before a moment. */
function latestDigestAt(schedule: DigestSchedule, zone: string, now: number): number {
  let latest = nextDigestAt(schedule, zone, now - 9 * DAY);
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

/** What a digest tells of: whole days in its zone, so that weeks neither overlap nor leave a gap. */
export function digestWeek(periodAt: number, zone: string): DigestWeek {
  const wallClock = createWallClock(zone);
  const { day, ...month } = toCalendarDay(wallClock(periodAt));
  const start = (back: number): number => firstSecondOf({ ...month, day: day - back }, wallClock);
  return { since: start(7), until: start(0) - 1, before: start(14) };
}

/** The zone of a digest: its own, else the project's, else UTC. */
export async function digestZone(tx: Transaction, { project, zone }: Pick<DigestRow, "project" | "zone">) {
  return zone ?? (await readSettings(tx, project)).timeZone ?? "UTC";
}

/** Adds one, or gives the one of this address another schedule. Throws InvalidError. */
export async function addDigest(
  tx: Transaction,
  project: Project,
  email: string,
  schedule: DigestSchedule,
): Promise<DigestRow> {
  const problem = emailProblem(email);
  if (problem !== null) throw new InvalidError({ email: [problem] });
  const dueAt = nextDigestAt(schedule, await digestZone(tx, { project, zone: schedule.zone }), tx.now);
  const known = (await tx.digests.list(project.id)).find((each) => emailKey(each.email) === emailKey(email));
  if (known !== undefined && known.unsubscribedAt !== null)
    throw new InvalidError({ email: ["has unsubscribed from the digest; remove it first"] });
  if (known === undefined) await tx.digests.insert(project.id, { ...schedule, email, dueAt, token: tx.token() });
  else if (known.claimer !== null) await tx.digests.change(project.id, known.id, { ...schedule });
  else await tx.digests.change(project.id, known.id, { ...schedule, dueAt, state: "scheduled", reason: null });
  return requireDigest(tx, project, email);
}

/** By id or address. Throws NotFoundError. */
async function requireDigest(tx: Transaction, project: Project, name: string): Promise<DigestRow> {
  const id = parseId(name);
  const found = (await tx.digests.list(project.id)).find((each) =>
    id === null ? emailKey(each.email) === emailKey(name) : each.id === id,
  );
  if (found === undefined) throw new NotFoundError(`project ${project.name} has no digest ${name}`);
  return found;
}

/** By id or address; what was removed. Throws NotFoundError. */
export async function removeDigest(tx: Transaction, project: Project, name: string): Promise<DigestRow> {
  const digest = await requireDigest(tx, project, name);
  await tx.digests.delete(project.id, digest.id);
  return digest;
}

/** Removes those to an address; a mail in hand is not sent. */
export async function removeDigestsTo(tx: Transaction, project: Project, email: string): Promise<void> {
  for (const digest of await tx.digests.list(project.id))
    if (emailKey(digest.email) === emailKey(email)) await tx.digests.delete(project.id, digest.id);
}

/**
 * Takes back what digests say of a person: mails in an outbox go, and one that is being written is written anew. What a
 * mail server is given at this moment cannot be taken back.
 */
export async function recallDigests(tx: Transaction, project: Project): Promise<void> {
  for (const digest of await tx.digests.list(project.id)) {
    if (digest.periodAt === null) continue;
    await tx.digests.eraseMails(digest);
    if (digest.state !== "claimed") continue;
    const dueAt = tx.now + RELEASED_SECONDS_MIN;
    await tx.digests.change(project.id, digest.id, { state: "retrying", claimer: null, dueAt });
  }
}

/** Who may get a mail now: nobody while all, or their project, is paused. */
async function wanted(tx: Transaction): Promise<readonly DigestRow[]> {
  if ((await tx.deliveries.pausedAt()) !== null) return [];
  const paused = new Set((await tx.projects.list()).flatMap(({ id, pausedAt }) => (pausedAt === null ? [] : [id])));
  return (await tx.digests.list(null)).filter(
    ({ project, unsubscribedAt }) => unsubscribedAt === null && !paused.has(project.id),
  );
}

/** When the next digest is due, Unix seconds, and in which project; null for never. */
export async function nextDigestDue(
  tx: Transaction,
): Promise<{ readonly at: number; readonly project: number } | null> {
  const dues = (await wanted(tx)).flatMap(({ dueAt, project }) =>
    dueAt === null ? [] : [{ at: dueAt, project: project.id }],
  );
  return dues.toSorted((left, right) => left.at - right.at)[0] ?? null;
}

/** A mail that is to go out now: `zone` and `periodAt` say what it tells of. */
export interface DueDigest extends DigestRow {
  readonly zone: string;
  readonly periodAt: number;
  readonly claimer: string;
}

/**
 * Claims one digest of a project that is due; null when none is. Of weeks that nobody was there for, only the last is told of; one
 * that is three days late is left out. In a write of the project; the mail leaves after it is durable.
 */
export async function claimDigest(tx: Transaction, claimer: string, project: number): Promise<DueDigest | null> {
  for (const digest of await wanted(tx)) {
    if (digest.project.id !== project) continue;
    if (digest.dueAt === null || digest.dueAt > tx.now) continue;
    const zone = await digestZone(tx, digest);
    const isAgain = digest.periodAt !== null && (digest.state === "retrying" || digest.state === "held");
    const periodAt = isAgain ? (digest.periodAt ?? 0) : latestDigestAt(digest, zone, tx.now);
    const isNew = isAgain || (periodAt > digest.createdAt && periodAt - (digest.periodAt ?? 0) >= APART_SECONDS);
    if (isNew && tx.now - periodAt <= LATE_SECONDS) {
      const attempts = isAgain ? digest.attempts : 0;
      const claim = { state: "claimed", dueAt: null, periodAt, attempts, reason: null, claimer } as const;
      await tx.digests.change(digest.project.id, digest.id, claim);
      return { ...digest, ...claim, zone };
    }
    // Where the schedule or the zone was changed meanwhile, the time before is none that was missed.
    const isLate = isNew && periodAt >= digest.dueAt;
    const late = isLate ? ({ state: "failed", periodAt, reason: digest.reason ?? "too late" } as const) : {};
    await tx.digests.change(digest.project.id, digest.id, { ...late, dueAt: nextDigestAt(digest, zone, tx.now) });
  }
  return null;
}

/** The digest as it is now; null when it is not in this claim's hands any more. */
async function heldBy(tx: Transaction, { project, id, claimer, periodAt }: DueDigest): Promise<DigestRow | null> {
  const row = (await tx.digests.list(project.id)).find((each) => each.id === id);
  return row !== undefined && row.claimer === claimer && row.periodAt === periodAt ? row : null;
}

/** How a claimed digest that may not go out any more ends; null while it may. Reads only. */
export async function mayStillSendDigest(tx: Transaction, due: DueDigest): Promise<DeliveryOutcome | null> {
  const row = await heldBy(tx, due);
  if (row === null || row.unsubscribedAt !== null) return { kind: "cancelled", reason: "no longer wanted" };
  const isWanted = (await wanted(tx)).some(({ project, id }) => project.id === due.project.id && id === due.id);
  return isWanted ? null : { kind: "released", delaySeconds: RELEASED_SECONDS_MIN };
}

/** Marks a claimed digest before the final dot of its mail; false when the claim is lost, and the dot must not follow. */
export async function markDigest(tx: Transaction, due: DueDigest): Promise<boolean> {
  const row = await heldBy(tx, due);
  if (row === null || row.unsubscribedAt !== null) return false;
  await tx.digests.change(due.project.id, due.id, { state: "transmitting" });
  return true;
}

/** Records how a claimed digest ended; nothing happens when the claim is lost. `fraction`, 0 to 1, spreads repeats. */
export async function finishDigest(
  tx: Transaction,
  due: DueDigest,
  outcome: DeliveryOutcome,
  { text = null, fraction }: { readonly text?: string | null; readonly fraction: number },
): Promise<void> {
  const row = await heldBy(tx, due);
  // It was taken back while its file was written.
  if (row === null && outcome.kind === "sent") await tx.digests.eraseMails(due);
  if (row === null) return;
  const zone = await digestZone(tx, row);
  const next = nextDigestAt(row, zone, Math.max(tx.now, due.periodAt));
  const reason = "reason" in outcome ? outcome.reason : text;
  await tx.digests.change(due.project.id, due.id, {
    claimer: null,
    reason,
    ...toDigestEnd(tx.now, row, next, outcome, fraction),
  });
}

function toDigestEnd(
  now: number,
  { attempts }: DigestRow,
  next: number,
  outcome: DeliveryOutcome,
  fraction: number,
): DigestChange {
  switch (outcome.kind) {
    case "sent":
      return { state: "sent", sentAt: now, dueAt: next };
    case "unknown":
      return { state: "unknown", dueAt: next };
    case "bounced":
      return { state: "bounced", dueAt: null };
    case "retry":
      return {
        state: "retrying",
        attempts: attempts + 1,
        dueAt: now + Math.max(outcome.delaySeconds, retryDelaySeconds(attempts + 1, fraction)),
      };
    case "held":
      return { state: "held", dueAt: now + HELD_SECONDS };
    case "released":
      return { state: "retrying", dueAt: now + Math.max(outcome.delaySeconds, RELEASED_SECONDS_MIN) };
    default:
      return { state: "failed", dueAt: next };
  }
}

async function listDead(tx: Transaction, living: readonly string[], project: number | null): Promise<DigestRow[]> {
  const rows = await tx.digests.list(project);
  return rows.filter(({ claimer }) => claimer !== null && !living.includes(claimer));
}

/** The projects in which processes other than the living ones have digests in hand. */
export async function deadDigestProjects(tx: Transaction, living: readonly string[]): Promise<readonly number[]> {
  return (await listDead(tx, living, null)).map(({ project }) => project.id);
}

/**
 * What processes other than the living ones had in hand, in one project or, with null, in all, is due again; what they
 * were transmitting is `unknown`.
 */
export async function releaseDeadDigests(
  tx: Transaction,
  living: readonly string[],
  only: number | null = null,
): Promise<void> {
  for (const digest of await listDead(tx, living, only)) {
    const { project, id, state } = digest;
    const dueAt = state === "claimed" ? tx.now : nextDigestAt(digest, await digestZone(tx, digest), tx.now);
    const ended =
      state === "claimed"
        ? ({ state: "retrying" } as const)
        : ({ state: "unknown", reason: "the service ended before a reply came" } as const);
    await tx.digests.change(project.id, id, { ...ended, dueAt, claimer: null });
  }
}

/** Ends a digest by the link of its mail, or takes that back within 30 days; whether it is as was asked for. */
export async function leaveDigest(tx: Transaction, token: string, how: "leave" | "undo"): Promise<boolean> {
  const digest = await tx.digests.byToken(token);
  if (digest === null) return false;
  const { project, id, unsubscribedAt } = digest;
  if (how === "leave") {
    if (unsubscribedAt === null) await tx.digests.change(project.id, id, { unsubscribedAt: tx.now });
    return true;
  }
  if (unsubscribedAt === null) return true;
  if (tx.now - unsubscribedAt > UNDO_SECONDS) return false;
  const dueAt = nextDigestAt(digest, await digestZone(tx, digest), tx.now);
  await tx.digests.change(project.id, id, { unsubscribedAt: null, ...(digest.claimer === null ? { dueAt } : {}) });
  return true;
}
