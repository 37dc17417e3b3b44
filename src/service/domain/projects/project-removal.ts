/** Removes a project: hides it immediately, and deletes its rows in steps. */
import { type LongChange, STEP } from "../../sql/long-changes.ts";
import { ConflictError, NotFoundError } from "../errors.ts";
import type { Project } from "../inputs.ts";
import { WAITING_STATES } from "../delivery/queue-rows.ts";
import type { Transaction } from "../ports.ts";

export interface RemovedCounts {
  readonly people: number;
  readonly responses: number;
  readonly keys: number;
  readonly surveys: number;
}

export const NOTHING_LEFT: RemovedCounts = { people: 0, responses: 0, keys: 0, surveys: 0 };

/** `isRemoved` means that a killed command began the removal. Throws NotFoundError and ConflictError. */
export async function findRemovable(
  tx: Transaction,
  name: string,
): Promise<{ readonly project: Project; readonly isRemoved: boolean }> {
  const projects = await tx.projects.list();
  const project = projects.find((one) => one.name === name);
  if (project === undefined) {
    const removed = await tx.operationLog.removedProject(name);
    if (removed === null) throw new NotFoundError(`there is no project ${JSON.stringify(name)}`);
    return { project: removed, isRemoved: true };
  }
  if (projects.length === 1)
    throw new ConflictError({ id: ["is the last project"] }, `${name} is the last project, which must stay`);
  return { project, isRemoved: false };
}

export async function countRemoved(tx: Transaction, { id }: Project): Promise<RemovedCounts> {
  const waiting = (await tx.deliveries.counts()).filter(
    ({ project, state }) => project === id && WAITING_STATES.includes(state),
  );
  return {
    ...(await tx.projects.counts(id)),
    keys: (await tx.projects.listKeys(id)).length,
    surveys: waiting.reduce((sum, { count }) => sum + count, 0),
  };
}

/** The rest is deleted in steps; see `Store.settle`. Messages in the outbox are recorded as erased. */
export async function removeProject(tx: Transaction, { id }: Project): Promise<void> {
  for (const digest of await tx.digests.list(id)) await tx.digests.delete(id, digest.id);
  await tx.projects.close(id);
  await tx.erasures.setCleaning(true);
  await tx.changes.begin({ project: id, kind: "remove project", target: String(id) });
}

export async function removeProjectStep(tx: Transaction, { project }: LongChange): Promise<number | null> {
  if (await tx.projects.deleteSome(project, STEP)) return 0;
  await tx.projects.delete(project);
  return null;
}
