/** Autopilot: who is enrolled, how often it surveys, and what that schedules (sections 3 and 4.8 to 4.11). */
import { isDeepStrictEqual } from "node:util";
import { emailKey } from "../../../contract/text/email.ts";
import type {
  AutopilotConfiguration,
  Membership,
  MembershipPerson,
  Platform,
  Properties,
} from "../../../contract/resources.ts";
import { InvalidError, NotFoundError } from "../errors.ts";
import { type JsonPage, parseCursor, parseId, toPage } from "../ids.ts";
import type { MemberInput, MembersQuery, PersonReference, Project } from "../inputs.ts";
import { findReferenced, identify, MEMBER_NAMES, requireReferenced, upsertPerson } from "../people/person-identity.ts";
import type { MembershipRow, PersonRow, Transaction } from "../ports.ts";
import { checkSpecialProperties } from "./special-properties.ts";
import { type AutopilotWish, scheduleAutopilot } from "./surveys.ts";

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

/** The person whom all given filters name; null for no filter, undefined for an unknown person. */
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

export interface Enrolment {
  readonly person: PersonRow;
  readonly properties: Properties;
  readonly created: boolean;
}

/** Throws an InvalidError for a person who is not identified, does not exist, or has no address on the platform. */
async function enrolPerson(tx: Transaction, project: Project, input: MemberInput): Promise<Enrolment> {
  checkSpecialProperties(input.properties ?? {});
  const person = await resolvePerson(tx, project, input);
  const member = await tx.autopilot.member(project.id, input.platform, person.id);
  if (member === null) return join(tx, project, person, input);
  return refresh(tx, project, person, member, input);
}

async function resolvePerson(tx: Transaction, project: Project, input: MemberInput): Promise<PersonRow> {
  const { personId, personEmail: email, personPhoneNumber: phoneNumber, personName: name } = input;
  if (personId === null && email === null && phoneNumber === null) throw missing(input);
  const existing =
    personId === null
      ? await identify(tx, project, { email, phoneNumber }, MEMBER_NAMES)
      : await byId(tx, project, personId, email);
  const reachable = input.platform === "email" ? (email ?? existing?.email) : (phoneNumber ?? existing?.phoneNumber);
  if (reachable === null || reachable === undefined) throw missing(input);
  return upsertPerson(tx, project, existing, { email, phoneNumber, name, lastSentAt: null }, MEMBER_NAMES);
}

function missing({ platform }: MemberInput): InvalidError {
  return new InvalidError({
    [platform === "email" ? MEMBER_NAMES.email : MEMBER_NAMES.phoneNumber]: ["can't be blank"],
  });
}

async function byId(tx: Transaction, project: Project, text: string, email: string | null): Promise<PersonRow> {
  const id = parseId(text);
  const person = id === null ? null : await tx.people.byId(project.id, id);
  if (person === null) throw new InvalidError({ [MEMBER_NAMES.id]: ["does not exist"] });
  if (email !== null && person.email !== null && emailKey(email) !== emailKey(person.email)) {
    throw new InvalidError({ [MEMBER_NAMES.email]: [`is not the e-mail of the person that ${MEMBER_NAMES.id} names`] });
  }
  return person;
}

async function join(
  tx: Transaction,
  project: Project,
  person: PersonRow,
  { platform, properties: given }: MemberInput,
): Promise<Enrolment> {
  const properties = given ?? {};
  await tx.autopilot.insertMember(project.id, platform, { personId: person.id, properties });
  await scheduleFirst(tx, project, person, { platform, properties });
  return { person, properties, created: true };
}

/** New properties replace the old ones also on the survey that waits; none given leaves the old ones. */
async function refresh(
  tx: Transaction,
  project: Project,
  person: PersonRow,
  member: MembershipRow,
  input: MemberInput,
): Promise<Enrolment> {
  const { platform } = input;
  const properties = input.properties ?? member.properties;
  if (!isDeepStrictEqual({ ...properties }, { ...member.properties })) {
    await tx.autopilot.setMemberProperties(project.id, platform, person.id, properties);
    if (member.nextRequestId !== null) await tx.requests.setProperties(project.id, member.nextRequestId, properties);
  }
  if (member.nextRequestId === null) await scheduleFirst(tx, project, person, { platform, properties });
  return { person, properties, created: false };
}

/**
 * Now, or one interval after the last Autopilot survey of this person: leaving and joining again does not shorten it.
 */
async function scheduleFirst(
  tx: Transaction,
  project: Project,
  person: PersonRow,
  { platform, properties }: Omit<AutopilotWish, "delaySeconds">,
): Promise<void> {
  const lastAt = await tx.requests.lastAutopilotAt(project.id, person.id, platform);
  const { frequency } = await tx.autopilot.configuration(project.id, platform);
  const delaySeconds = lastAt === null ? 0 : Math.max(0, lastAt + frequency - tx.now);
  await scheduleAutopilot(tx, project, person, { platform, properties, delaySeconds });
}

/** Goes on with a member who can be reached again. Nothing changes for others, or where a survey waits already. */
export async function resumeMember(
  tx: Transaction,
  project: Project,
  person: PersonRow,
  platform: Platform,
): Promise<void> {
  const member = await tx.autopilot.member(project.id, platform, person.id);
  if (member !== null && member.nextRequestId === null)
    await scheduleFirst(tx, project, person, { platform, properties: member.properties });
}
