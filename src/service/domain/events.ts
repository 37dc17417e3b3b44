/** Bounces and unsubscribes: sections 4.5 and 4.6, and how they come about. */
import { InvalidError } from "./errors.ts";
import type { EventsQuery, Project } from "./inputs.ts";
import type { EventsFilter, JsonRows, Transaction } from "./ports.ts";
import { suppressEmail } from "./suppressions.ts";

/** 4.5 as JSON texts, oldest bounce first. */
export async function listBouncesJson(tx: Transaction, project: Project, query: EventsQuery): Promise<JsonRows> {
  return tx.people.listBounced(project.id, toFilter(query));
}

/** 4.6 as JSON texts, oldest unsubscribe first. */
export async function listUnsubscribesJson(tx: Transaction, project: Project, query: EventsQuery): Promise<JsonRows> {
  return tx.people.listUnsubscribed(project.id, toFilter(query));
}

function toFilter({ since, until, page, perPage }: EventsQuery): EventsFilter {
  return { since, until, offset: (page - 1) * perPage, limit: perPage };
}

/** Ends e-mail to a person and drops what waits to be mailed; responses stay. `created` is false the second time. */
export async function unsubscribe(tx: Transaction, project: Project, email: string): Promise<{ created: boolean }> {
  const person = await tx.people.byEmail(project.id, email);
  if (person === null) throw new InvalidError({ person_email: ["does not exist"] });
  return unsubscribePerson(tx, project, person.id);
}

/** As `unsubscribe`, for a person who is known by id. */
export async function unsubscribePerson(
  tx: Transaction,
  project: Project,
  personId: number,
): Promise<{ created: boolean }> {
  const person = await tx.people.byId(project.id, personId);
  return { created: person !== null && (await suppressEmail(tx, project, person, "unsubscribe")) };
}

/** Records that a person's e-mail address refused a message for good: nothing more is mailed to it. */
export async function recordBounce(tx: Transaction, project: Project, personId: number): Promise<void> {
  const person = await tx.people.byId(project.id, personId);
  if (person !== null) await suppressEmail(tx, project, person, "bounce");
}
