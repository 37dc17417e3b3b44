/** Autopilot's members and their surveys (sections 3 and 4.8 to 4.10). */
import { isDeepStrictEqual } from "node:util";
import { describeSurveyStatus, type SurveyStatus } from "../../../../contract/text/survey-status.ts";
import { createWallClock, DEFAULT_ZONE } from "../../../../runtime/zone.ts";
import { findSuppression } from "../../people/suppressions.ts";
import { emailKey } from "../../../../contract/text/email.ts";
import type { Membership, MembershipPerson, Platform, Properties } from "../../../../contract/resources.ts";
import { InvalidError, NotFoundError } from "../../errors.ts";
import { type JsonPage, parseCursor, toPage } from "../../ids.ts";
import type { MemberInput, MembersQuery, PersonReference, Project } from "../../inputs.ts";
import {
  findReferenced,
  identify,
  MEMBER_NAMES,
  newest,
  requireReferenced,
  upsertPerson,
} from "../../people/person-identity.ts";
import { describeWrite } from "../../people/person-write.ts";
import { carriedProperties, storedProperties } from "../../people/stored-properties.ts";
import type { MembershipRow, PersonRow, Transaction } from "../../ports.ts";
import type { Start } from "../due-moment.ts";
import { waitingSurveys } from "../reschedule.ts";
import { checkSpecialProperties } from "../special-properties.ts";
import { findPause, scheduleAutopilot } from "../surveys.ts";
import { readAutopilotSettings } from "./autopilot-settings.ts";

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

/** Null if there is no filter, undefined for an unknown person. */
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

/**
 * 4.9: `created` is false if the person was already a member. `status` is why no survey is scheduled, or why it isn't
 * sent now. Throws InvalidError if the person is missing, unknown, or has no address on the platform.
 */
export async function addMember(tx: Transaction, project: Project, input: MemberInput) {
  const { platform } = input;
  checkSpecialProperties(input.properties ?? {});
  const { old, person } = await resolvePerson(tx, project, input);
  const known = await tx.autopilot.member(project.id, platform, person.id);
  const { properties, scheduledAt } =
    known === null ? await join(tx, project, person, input) : await refresh(tx, project, person, known, input);
  const member = { person: toMembershipPerson(person), properties, survey_scheduled_at: scheduledAt };
  const refused = scheduledAt === null ? await findSuppression(tx, project, person, platform) : null;
  return {
    member,
    created: known === null,
    status: refused ?? (await findMemberPause(tx, project, platform)),
    write: () => {
      if (known === null) return describeWrite(old, person, { member: platform, since: tx.now });
      return describeWrite(old, person, {}, !isDeepStrictEqual({ ...properties }, { ...known.properties }));
    },
  };
}

/** Like `findPause`, but an inactive platform also counts as paused, because nothing is sent. */
async function findMemberPause(tx: Transaction, project: Project, platform: Platform): Promise<SurveyStatus | null> {
  const { active } = await readAutopilotSettings(tx, project, platform);
  return active ? findPause(tx, project) : { status: "paused", since: null, until: null };
}

/** 4.10: the person and responses stay. Throws NotFoundError. */
export async function removeMember(
  tx: Transaction,
  project: Project,
  input: { readonly platform: Platform; readonly reference: PersonReference },
): Promise<{ person: MembershipPerson }> {
  const person = await requireReferenced(tx, project, input.reference);
  const member = await tx.autopilot.member(project.id, input.platform, person.id);
  if (member === null) throw new NotFoundError("this person is not in Autopilot");
  await endMembership(tx, project, person, input.platform);
  return { person: toMembershipPerson(person) };
}

export async function endMembership(
  tx: Transaction,
  project: Project,
  person: PersonRow,
  platform: Platform,
): Promise<void> {
  await tx.requests.cancel(project.id, person.id, { channel: platform, autopilot: true });
  await tx.autopilot.deleteMember(project.id, platform, person.id);
  await tx.people.countWrite(project.id, person);
}

/**
 * The next survey keeps its date, or waits for the new window. `isChanged` is false if the member was already there.
 * Throws NotFoundError, and InvalidError with the reason if the person can't be moved.
 */
export async function moveMember(
  tx: Transaction,
  project: Project,
  { platform, reference }: { readonly platform: Platform; readonly reference: PersonReference },
) {
  const person = await requireReferenced(tx, project, reference);
  const members = await tx.autopilot.memberships(project.id, person.id);
  const there = members.find((member) => member.platform === platform);
  const old = members.find((member) => member.platform !== platform);
  if (old === undefined && there !== undefined) return toMoved(person, there.properties, there.nextSurveyAt, false);
  if (old === undefined) throw new InvalidError({ person: ["is not in Autopilot"] });
  const reason = there === undefined ? await reasonToStay(tx, project, person, old, platform) : "is on both platforms";
  if (reason !== null) throw new InvalidError({ person: [reason] });
  await endMembership(tx, project, person, old.platform);
  const { properties, nextSurveyAt: at } = old;
  const start = at === null ? await startJoining(tx, project, person, platform) : ({ kind: "set", at } as const);
  const member = await tx.autopilot.insertMember(project.id, platform, { personId: person.id, properties, start });
  return toMoved(person, properties, await scheduleAutopilot(tx, project, person, { member, start }), true);
}

function toMoved(person: PersonRow, properties: Properties, scheduledAt: number | null, isChanged: boolean) {
  return { member: { person: toMembershipPerson(person), properties, survey_scheduled_at: scheduledAt }, isChanged };
}

/** Moving someone whose survey is being sent would send them a second one. */
async function reasonToStay(
  tx: Transaction,
  project: Project,
  person: PersonRow,
  { nextRequestId }: MembershipRow,
  platform: Platform,
): Promise<string | null> {
  const refused = await findSuppression(tx, project, person, platform);
  if (refused?.status === "unreachable") return platform === "sms" ? "has no phone number" : "has no e-mail address";
  if (refused !== null)
    return `can't get surveys there: ${describeSurveyStatus(refused, createWallClock(DEFAULT_ZONE))}`;
  const waiting = nextRequestId === null ? [] : await waitingSurveys(tx, project, person.id);
  const isWaiting = nextRequestId === null || waiting.some(({ requestId }) => requestId === nextRequestId);
  return isWaiting ? null : "is being surveyed at this moment";
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

interface Enrolment {
  readonly properties: Properties;
  readonly scheduledAt: number | null;
}

async function resolvePerson(tx: Transaction, project: Project, input: MemberInput) {
  const { personId, personEmail: email, personPhoneNumber: phoneNumber, personName: name } = input;
  if (personId === null && email === null && phoneNumber === null) throw missing(input);
  const old =
    personId === null
      ? await identify(tx, project, { email, phoneNumber }, MEMBER_NAMES)
      : await byId(tx, project, personId, email);
  const reachable = input.platform === "email" ? (email ?? old?.email) : (phoneNumber ?? old?.phoneNumber);
  if (reachable === null || reachable === undefined) throw missing(input);
  const wanted = { email, phoneNumber, name, properties: null, lastSentAt: null };
  return { old, person: await upsertPerson(tx, project, old, wanted, MEMBER_NAMES) };
}

function missing({ platform }: MemberInput): InvalidError {
  return new InvalidError({
    [platform === "email" ? MEMBER_NAMES.email : MEMBER_NAMES.phoneNumber]: ["can't be blank"],
  });
}

async function byId(tx: Transaction, project: Project, text: string, email: string | null): Promise<PersonRow> {
  const person = await findReferenced(tx, project, { by: "id", id: text });
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
  { platform, properties }: MemberInput,
): Promise<Enrolment> {
  const start = await startJoining(tx, project, person, platform);
  const member = await tx.autopilot.insertMember(project.id, platform, {
    personId: person.id,
    properties: properties ?? carriedProperties(storedProperties(person)),
    start,
  });
  const scheduledAt = await scheduleAutopilot(tx, project, person, { member, start });
  return { properties: member.properties, scheduledAt };
}

/** New properties also replace those of the pending survey. If none are given, the old ones stay. */
async function refresh(
  tx: Transaction,
  project: Project,
  person: PersonRow,
  member: MembershipRow,
  input: MemberInput,
): Promise<Enrolment> {
  const { platform } = input;
  const { nextRequestId } = member;
  const properties = input.properties ?? member.properties;
  if (!isDeepStrictEqual({ ...properties }, { ...member.properties })) {
    await tx.autopilot.setMemberProperties(project.id, platform, person.id, properties);
    if (nextRequestId !== null) await tx.requests.setProperties(project.id, nextRequestId, properties);
  }
  const scheduledAt =
    nextRequestId === null ? await rejoin(tx, project, person, { ...member, properties }) : member.nextSurveyAt;
  return { properties, scheduledAt };
}

/** Counts every survey that was or may have been sent, so that no one is surveyed twice in one interval. */
async function startJoining(tx: Transaction, project: Project, person: PersonRow, platform: Platform): Promise<Start> {
  const { first } = await readAutopilotSettings(tx, project, platform);
  const askedAt = newest(person.lastSentAt, await tx.requests.lastAutopilotAt(project.id, person.id, platform));
  return { kind: "join", at: tx.now, isSpread: first === "spread", askedAt };
}

async function rejoin(
  tx: Transaction,
  project: Project,
  person: PersonRow,
  member: MembershipRow,
): Promise<number | null> {
  const start = await startJoining(tx, project, person, member.platform);
  return scheduleAutopilot(tx, project, person, { member, start });
}

/** Schedules a survey for a member who can be reached again, if none is pending. */
export async function resumeMember(
  tx: Transaction,
  project: Project,
  person: PersonRow,
  platform: Platform,
): Promise<void> {
  const member = await tx.autopilot.member(project.id, platform, person.id);
  if (member !== null && member.nextRequestId === null) await rejoin(tx, project, person, member);
}
