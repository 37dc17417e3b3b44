/** Takes back an unsubscribe and a bounce, by request of the person through somebody who notes it. */
import { clearBounce } from "../delivery/bounces.ts";
import { InvalidError } from "../errors.ts";
import type { Project } from "../inputs.ts";
import type { Transaction } from "../ports.ts";
import { resumeMember } from "../surveys/autopilot.ts";
import { resubscribePerson } from "./suppressions.ts";

/**
 * Lets e-mail go to the person again, and Autopilot goes on; `note` says who asked for it and why, and is kept with the
 * person. Somebody who neither left nor bounced only gets the note. Throws InvalidError for an unknown address.
 */
export async function resubscribe(tx: Transaction, project: Project, email: string, note: string): Promise<void> {
  const person = await tx.people.byEmail(project.id, email);
  if (person === null) throw new InvalidError({ person_email: ["does not exist"] });
  await tx.people.noteResubscription(project.id, person.id, { at: tx.now, note });
  const isLeft = person.unsubscribedAt !== null;
  await resubscribePerson(tx, project, person);
  if (person.bouncedAt !== null) await clearBounce(tx, project, email);
  else if (isLeft) await resumeMember(tx, project, { ...person, unsubscribedAt: null }, "email");
}
