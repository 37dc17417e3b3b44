/** Takes back an unsubscribe and a bounce, by request of the person through somebody who notes it. */
import { clearBounce } from "../delivery/bounces.ts";
import { InvalidError } from "../errors.ts";
import type { Project } from "../inputs.ts";
import type { Transaction } from "../ports.ts";
import { resumeMember } from "../surveys/autopilot/autopilot.ts";
import { resubscribePerson } from "./suppressions.ts";

/**
 * Lets e-mail go to the person again, and Autopilot goes on; `note` says who asked for it and why, and is kept with the
 * person. False, and nothing is kept, for somebody who neither left nor bounced. Throws InvalidError for an unknown
 * address.
 */
export async function resubscribe(tx: Transaction, project: Project, email: string, note: string): Promise<boolean> {
  const person = await tx.people.byEmail(project.id, email);
  if (person === null) throw new InvalidError({ person_email: ["does not exist"] });
  if (person.unsubscribedAt === null && person.bouncedAt === null) return false;
  await tx.people.noteResubscription(project.id, person.id, { at: tx.now, note });
  await resubscribePerson(tx, project, person);
  if (person.bouncedAt !== null) await clearBounce(tx, project, email);
  else await resumeMember(tx, project, { ...person, unsubscribedAt: null }, "email");
  return true;
}
