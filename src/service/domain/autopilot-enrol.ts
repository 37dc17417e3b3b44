/** Adding to Autopilot, section 4.9: finding or making the person, the membership and its first survey. */
import { isDeepStrictEqual } from "node:util";
import { emailKey } from "../../contract/email.ts";
import type { Properties } from "../../contract/resources.ts";
import { InvalidError } from "./errors.ts";
import { parseId } from "./ids.ts";
import type { MemberInput, Project } from "./inputs.ts";
import { MEMBER_NAMES, identify, upsertPerson } from "./person-identity.ts";
import type { MembershipRow, PersonRow, Transaction } from "./ports.ts";
import { checkSpecialProperties } from "./special-properties.ts";
import { scheduleAutopilot, type AutopilotWish } from "./surveys.ts";

export interface Enrolment {
  readonly person: PersonRow;
  readonly properties: Properties;
  readonly created: boolean;
}

/** Throws an InvalidError for somebody who cannot be named, does not exist, or has no address on the platform. */
export async function enrolPerson(tx: Transaction, project: Project, input: MemberInput): Promise<Enrolment> {
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

/** Now, or one interval after the last Autopilot survey of this person: leaving and joining again does not shorten it. */
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
