import { clearBounce } from "../delivery/bounces.ts";
import { InvalidError } from "../errors.ts";
import type { Project } from "../inputs.ts";
import { noteOverwritten } from "../operation-log/operation-log.ts";
import type { Transaction } from "../ports.ts";
import { resumeMember } from "../surveys/autopilot/autopilot.ts";
import { resubscribePerson } from "./suppressions.ts";

/**
 * `note` says who asked and why; it is stored with the person. Returns false and stores nothing if they had neither
 * unsubscribed nor bounced. Throws InvalidError for an unknown address.
 */
export async function resubscribe(tx: Transaction, project: Project, email: string, note: string): Promise<boolean> {
  const person = await tx.people.byEmail(project.id, email);
  if (person === null) throw new InvalidError({ person_email: ["does not exist"] });
  if (person.unsubscribedAt === null && person.bouncedAt === null) return false;
  await tx.people.noteResubscription(project.id, person.id, { at: tx.now, note });
  noteOverwritten(tx, "people.resubscribe", person.id);
  await resubscribePerson(tx, project, person);
  if (person.bouncedAt !== null) await clearBounce(tx, project, email);
  else await resumeMember(tx, project, { ...person, unsubscribedAt: null }, "email");
  return true;
}
