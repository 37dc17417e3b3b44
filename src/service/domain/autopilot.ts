/** Autopilot: sections 3 and 4.8 to 4.11. */
import type {
  AutopilotConfiguration,
  Membership,
  MembershipPerson,
  Platform,
  Properties,
} from "../../contract/resources.ts";
import { parseCursor, toPage, type JsonPage } from "./cursor.ts";
import { InvalidError, NotFoundError } from "./errors.ts";
import type { MemberInput, MembersQuery, PersonReference, Project } from "./inputs.ts";
import { findReferenced, requireReferenced } from "./person-identity.ts";
import { enrolPerson } from "./autopilot-enrol.ts";
import type { PersonRow, Transaction } from "./ports.ts";

const FREQUENCY_MAX = 100 * 365 * 86_400;

/** 4.8 as JSON texts, `Membership` rows in the order in which they were added. */
export async function listMembersJson(tx: Transaction, project: Project, query: MembersQuery): Promise<JsonPage> {
  const after = parseCursor(query.after);
  const personId = await filteredPerson(tx, project, query);
  if (personId === undefined) return { rows: [], next: null };
  const rows = await tx.autopilot.list(project.id, query.platform, { personId, after, limit: query.perPage + 1 });
  return toPage(rows, query.perPage, (row) => {
    const last = JSON.parse(row) as Membership;
    return { createdAt: last.created_at, id: Number(last.person.id) };
  });
}

/** The person whom all given filters name; null for no filter, undefined for nobody. */
async function filteredPerson(
  tx: Transaction,
  project: Project,
  query: MembersQuery,
): Promise<number | null | undefined> {
  const { personId, personEmail, personPhoneNumber } = query;
  const references: PersonReference[] = [];
  if (personId !== null) references.push({ by: "id", id: personId });
  if (personEmail !== null) references.push({ by: "email", email: personEmail });
  if (personPhoneNumber !== null) references.push({ by: "phone_number", phoneNumber: personPhoneNumber });
  if (references.length === 0) return null;
  const ids = new Set<number | undefined>();
  for (const reference of references) ids.add((await findReferenced(tx, project, reference))?.id);
  const [only] = ids;
  return ids.size === 1 ? only : undefined;
}

/** 4.9: adds a person, with a first survey now, or replaces a member's properties. `created` tells which. */
export async function addMember(
  tx: Transaction,
  project: Project,
  input: MemberInput,
): Promise<{ person: MembershipPerson; properties: Properties; created: boolean }> {
  const { person, properties, created } = await enrolPerson(tx, project, input);
  return { person: toMembershipPerson(person), properties, created };
}

/** 4.10: ends a membership and drops what it had scheduled; person and responses stay. Throws NotFoundError. */
export async function removeMember(
  tx: Transaction,
  project: Project,
  input: { readonly platform: Platform; readonly reference: PersonReference },
): Promise<{ person: MembershipPerson }> {
  const person = await requireReferenced(tx, project, input.reference);
  const member = await tx.autopilot.member(project.id, input.platform, person.id);
  if (member === null) throw new NotFoundError("this person is not in Autopilot");
  await tx.requests.cancel(project.id, person.id, { channel: input.platform, autopilot: true });
  await tx.autopilot.deleteMember(project.id, input.platform, person.id);
  return { person: toMembershipPerson(person) };
}

function toMembershipPerson(person: PersonRow): MembershipPerson {
  return {
    id: String(person.id),
    name: person.name,
    email: person.email,
    phone_number: person.phoneNumber,
    created_at: person.createdAt,
  };
}

/** 4.11 */
export async function getAutopilot(
  tx: Transaction,
  project: Project,
  platform: Platform,
): Promise<AutopilotConfiguration> {
  return tx.autopilot.configuration(project.id, platform);
}

/** Changes what is given. An inactive platform sends nothing and keeps its members; a new frequency reschedules. */
export async function configureAutopilot(
  tx: Transaction,
  project: Project,
  platform: Platform,
  change: { readonly active?: boolean; readonly frequencySeconds?: number },
): Promise<AutopilotConfiguration> {
  const { frequencySeconds } = change;
  if (
    frequencySeconds !== undefined &&
    (!Number.isInteger(frequencySeconds) || frequencySeconds < 1 || frequencySeconds > FREQUENCY_MAX)
  ) {
    throw new InvalidError({ frequency: ["must be from 1 second to 100 years"] });
  }
  const old = await tx.autopilot.configuration(project.id, platform);
  await tx.autopilot.configure(project.id, platform, {
    active: change.active ?? old.active,
    frequencySeconds: frequencySeconds ?? old.frequency,
  });
  return tx.autopilot.configuration(project.id, platform);
}
