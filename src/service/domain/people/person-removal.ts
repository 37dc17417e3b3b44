/** Deletes a person: hidden immediately, with their rows deleted in steps. */
import { type LongChange, STEP } from "../../sql/long-changes.ts";
import type { Transaction } from "../ports.ts";

/** True when nothing is left of the person; else the rest follows in steps: see `Store.settle`. */
export async function removePerson(tx: Transaction, project: number, id: number): Promise<boolean> {
  await tx.people.hide(project, id);
  return tx.changes.begin({ project, kind: "remove person", target: String(id) });
}

/** A step of "remove person": responses first, then requests, and with the last of them the person. */
export async function removePersonStep(tx: Transaction, { project, target }: LongChange): Promise<number | null> {
  const person = Number(target);
  const times = await tx.responses.deleteSome(project, person, STEP);
  await tx.shares.forgetDays(project, times);
  const left = STEP - times.length;
  if (left === 0 || (await tx.requests.deleteSome(project, person, left)) === left) return 0;
  await tx.people.delete(project, person);
  return null;
}
