import { DAY_SECONDS } from "../../../runtime/zone.ts";
import type { Project } from "../inputs.ts";
import { LOG_KEPT } from "../operation-log/operation-log.ts";
import type { Position, Store, Transaction } from "../ports.ts";
import type { OldResponse, RetentionCounts, RetentionMode } from "./retention-rows.ts";

/** In seconds; null keeps everything. */
export interface RetentionPolicy {
  readonly responses: number | null;
  readonly mode: RetentionMode;
  readonly requests: number | null;
  readonly webhooks: number | null;
  /** How long lines of the operation log are kept. */
  readonly log: number;
}

export const EVENTS_KEPT = 30 * DAY_SECONDS;

const NAMES = {
  responses: "retention_responses",
  mode: "retention_mode",
  requests: "retention_requests",
  webhooks: "retention_webhooks",
  log: "retention_log",
  removed: "removed_person",
} as const;

export async function readRetention(tx: Transaction, project: Project): Promise<RetentionPolicy> {
  const stored = await tx.projects.settings(project.id);
  const seconds = (name: string): number | null => (stored.has(name) ? Number(stored.get(name)) : null);
  return {
    responses: seconds(NAMES.responses),
    mode: stored.get(NAMES.mode) === "delete" ? "delete" : "anonymize",
    requests: seconds(NAMES.requests),
    webhooks: seconds(NAMES.webhooks),
    log: seconds(NAMES.log) ?? LOG_KEPT,
  };
}

export async function changeRetention(
  tx: Transaction,
  project: Project,
  { mode, ...times }: Partial<RetentionPolicy>,
): Promise<RetentionPolicy> {
  for (const [name, seconds] of Object.entries(times) as [keyof typeof times, number | null][])
    await tx.projects.setSetting(project.id, NAMES[name], seconds === null ? null : String(seconds));
  if (mode !== undefined) await tx.projects.setSetting(project.id, NAMES.mode, mode);
  return readRetention(tx, project);
}

async function removedPerson(tx: Transaction, project: Project): Promise<number | null> {
  const stored = (await tx.projects.settings(project.id)).get(NAMES.removed);
  return stored === undefined ? null : Number(stored);
}

export async function countExpired(
  tx: Transaction,
  project: Project,
  policy: RetentionPolicy,
): Promise<RetentionCounts> {
  const { responses, requests, webhooks } = policy;
  const before = (age: number | null): number | null => (age === null ? null : tx.now - age);
  const limits = { responses: before(responses), requests: before(requests), events: before(webhooks) };
  const removed = policy.mode === "delete" ? null : await removedPerson(tx, project);
  const log = await tx.operationLog.count(project.id, tx.now - policy.log);
  return { ...(await tx.retention.count(project.id, limits, removed)), log };
}

const STEP = 500;

/** Stops when `mayGoOn` returns false. Returns the numbers of removed rows. */
export async function followRetention(
  store: Store,
  project: Project,
  mayGoOn: () => boolean = () => true,
): Promise<RetentionCounts> {
  const done = { responses: 0, requests: 0, events: 0, log: 0 };
  const only = { project: project.id };
  const policy = await store.read((tx) => readRetention(tx, project));
  for (let place: Position | null | undefined; place !== null && policy.responses !== null && mayGoOn();) {
    const after: Position | null = place ?? null;
    const step: { changed: number; next: Position | null } = await store.write(
      (tx) => stepResponses(tx, project, policy, after),
      only,
    );
    done.responses += step.changed;
    place = step.next;
  }
  const repeat = async (step: (tx: Transaction) => Promise<number>): Promise<number> => {
    let sum = 0;
    for (let count = STEP; count === STEP && mayGoOn(); sum += count) count = await store.write(step, only);
    return sum;
  };
  const { requests, webhooks, log } = policy;
  if (requests !== null)
    done.requests = await repeat((tx) => tx.retention.requests(project.id, tx.now - requests, STEP));
  if (webhooks !== null) done.events = await repeat((tx) => tx.retention.events(project.id, tx.now - webhooks, STEP));
  const old = (tx: Transaction): number => tx.now - log;
  if ((await store.read((tx) => tx.operationLog.count(project.id, old(tx)))) > 0)
    done.log = await repeat((tx) => tx.operationLog.prune(project.id, old(tx), STEP));
  return done;
}

async function stepResponses(
  tx: Transaction,
  project: Project,
  { responses, mode }: RetentionPolicy,
  after: Position | null,
): Promise<{ changed: number; next: Position | null }> {
  const before = tx.now - (responses ?? tx.now);
  const removed = mode === "delete" ? null : await ensureRemovedPerson(tx, project);
  const rows = await tx.retention.oldResponses(project.id, { before, after, limit: STEP });
  const old = rows.filter(({ personId }) => personId !== removed);
  for (const { id } of old)
    if (removed === null) await tx.responses.delete(project.id, id);
    else await tx.retention.anonymize(project.id, id, removed);
  await tx.shares.forgetDays(
    project.id,
    old.map(({ createdAt }) => createdAt),
  );
  await refreshLastResponses(tx, project, old);
  const last = rows.length < STEP ? undefined : rows.at(-1);
  return { changed: old.length, next: last === undefined ? null : { createdAt: last.createdAt, id: last.id } };
}

/** People who have answered again keep the time of their last answer. */
async function refreshLastResponses(tx: Transaction, project: Project, rows: readonly OldResponse[]): Promise<void> {
  const last = new Map(rows.map(({ personId, createdAt }) => [personId, createdAt]));
  for (const [person, at] of last)
    if (((await tx.retention.lastResponseAt(project.id, person)) ?? Infinity) <= at)
      await tx.responses.refreshLast(project.id, [person]);
}

/** In each project, anonymous responses belong to a single hidden person. */
async function ensureRemovedPerson(tx: Transaction, project: Project): Promise<number> {
  const known = await removedPerson(tx, project);
  if (known !== null) return known;
  const made = await tx.retention.addRemovedPerson(project.id);
  await tx.projects.setSetting(project.id, NAMES.removed, String(made));
  return made;
}
