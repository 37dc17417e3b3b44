import { type LongChange, STEP } from "../../sql/long-changes.ts";
import type { Transaction } from "../ports.ts";

/** Hides the person. Returns false if the rows are deleted later, in steps (`Store.settle`). */
export async function removePerson(tx: Transaction, project: number, id: number): Promise<boolean> {
  await tx.people.hide(project, id);
  return tx.changes.begin({ project, kind: "remove person", target: String(id) });
}

/** One step of "remove person": deletes responses, then requests, and finally the person. */
export async function removePersonStep(tx: Transaction, { project, target }: LongChange): Promise<number | null> {
  const person = Number(target);
  const times = await tx.responses.deleteSome(project, person, STEP);
  await tx.shares.forgetDays(project, times);
  const left = STEP - times.length;
  if (left === 0 || (await tx.requests.deleteSome(project, person, left)) === left) return 0;
  await tx.people.delete(project, person);
  return null;
}
