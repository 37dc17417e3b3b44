import { noteOverwritten } from "../operation-log/operation-log.ts";
import { UniqueViolation } from "../../sql/database.ts";
import { InvalidError, NotFoundError } from "../errors.ts";
import { parseId } from "../ids.ts";
import type { PersonReference, Project } from "../inputs.ts";
import type { PersonChange, PersonRow, Transaction } from "../ports.ts";
import { UNKNOWN_PERSON } from "./person-rows.ts";
import { followMarks, keepSuppressions, suppressionMarks } from "./suppressions.ts";

export interface IdentityNames {
  readonly id: string;
  readonly email: string;
  readonly phoneNumber: string;
}

export const PEOPLE_NAMES: IdentityNames = { id: "id", email: "email", phoneNumber: "phone_number" };
export const MEMBER_NAMES: IdentityNames = {
  id: "person_id",
  email: "person_email",
  phoneNumber: "person_phone_number",
};

export interface Identity {
  readonly email: string | null;
  readonly phoneNumber: string | null;
}

/**
 * If an e-mail and a number are given, the e-mail decides; if no one has it, the number's owner is returned, provided
 * they have no e-mail. Throws InvalidError if the number is someone else's.
 */
export async function identify(
  tx: Transaction,
  project: Project,
  identity: Identity,
  names: IdentityNames,
): Promise<PersonRow | null> {
  const { email, phoneNumber } = identity;
  const byEmail = email === null ? null : await tx.people.byEmail(project.id, email);
  if (phoneNumber === null || byEmail?.phoneNumber === phoneNumber) return byEmail;
  const byPhone = await tx.people.byPhone(project.id, phoneNumber);
  if (byPhone === null || email === null) return byPhone ?? byEmail;
  if (byEmail === null && byPhone.email === null) return byPhone;
  throw taken(names.phoneNumber);
}

export async function findReferenced(
  tx: Transaction,
  project: Project,
  reference: PersonReference,
): Promise<PersonRow | null> {
  if (reference.by === "email") return tx.people.byEmail(project.id, reference.email);
  if (reference.by === "phone_number") return tx.people.byPhone(project.id, reference.phoneNumber);
  const id = parseId(reference.id);
  return id === null ? null : tx.people.byId(project.id, id);
}

export async function requireReferenced(
  tx: Transaction,
  project: Project,
  reference: PersonReference,
): Promise<PersonRow> {
  const person = await findReferenced(tx, project, reference);
  if (person === null) throw new NotFoundError("no such person");
  return person;
}

export interface WantedPerson extends Identity {
  readonly name: string | null;
  readonly properties: string | null;
  readonly lastSentAt: number | null;
}

/** Returns when a new person's first survey is due, or null. The person has no id yet. */
export type FirstSurvey = (person: PersonRow) => Promise<number | null>;

/**
 * `existing` is the result of `identify` in the same write; unique indexes reject an address that someone else takes in
 * between. A caller that passes `firstSurvey` has to schedule that survey.
 */
export async function upsertPerson(
  tx: Transaction,
  project: Project,
  existing: PersonRow | null,
  wanted: WantedPerson,
  names: IdentityNames,
  firstSurvey: FirstSurvey = () => Promise.resolve(null),
): Promise<PersonRow> {
  try {
    if (existing === null) return await addPerson(tx, project, wanted, firstSurvey);
    return await changePerson(tx, project, existing, mergeChange(existing, wanted));
  } catch (error) {
    throw translateTaken(error, names);
  }
}

/** Setting the survey's time after the insert would change the row twice. */
async function addPerson(
  tx: Transaction,
  project: Project,
  wanted: WantedPerson,
  firstSurvey: FirstSurvey,
): Promise<PersonRow> {
  const createdAt = tx.now;
  const person = { ...UNKNOWN_PERSON, createdAt, ...wanted };
  const marks = await suppressionMarks(tx, project, person);
  const nextSurveyAt = await firstSurvey({ ...person, ...marks });
  const added = await tx.people.insert(project.id, { createdAt, nextSurveyAt, ...wanted, ...marks });
  await followMarks(tx, project, added);
  return added;
}

function mergeChange(person: PersonRow, wanted: WantedPerson): PersonChange {
  return {
    email: person.email ?? wanted.email,
    phoneNumber: wanted.phoneNumber ?? person.phoneNumber,
    name: wanted.name ?? person.name,
    properties: wanted.properties ?? person.properties,
    lastSentAt: newest(person.lastSentAt, wanted.lastSentAt),
    valueWrites: person.valueWrites + Number(wanted.name !== null || wanted.properties !== null),
  };
}

/** Counts as one write. */
export async function changePerson(
  tx: Transaction,
  project: Project,
  person: PersonRow,
  wanted: PersonChange,
): Promise<PersonRow> {
  const change = changedFields(person, wanted);
  const { valueWrites: _, ...overwritten } = change;
  const names = Object.keys(overwritten).map(snakeCase);
  const changed = { ...person, ...change, writes: person.writes + 1 };
  if (names.length === 0) {
    await tx.people.countWrite(project.id, changed);
    return changed;
  }
  const isNewAddress = change.email !== undefined;
  if (isNewAddress) await keepSuppressions(tx, project, person);
  const marks = isNewAddress ? await suppressionMarks(tx, project, changed) : {};
  await tx.people.update(project.id, person.id, changedFields(person, { ...change, ...marks }));
  noteOverwritten(tx, "people.update", person.id, names);
  const marked = { ...changed, ...marks };
  if (isNewAddress) await followMarks(tx, project, marked);
  return marked;
}

function changedFields(person: PersonRow, wanted: PersonChange): PersonChange {
  return Object.fromEntries(
    Object.entries(wanted).filter(([key, value]) => person[key as keyof PersonChange] !== value),
  );
}

function snakeCase(name: string): string {
  return name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

/** Returns other errors unchanged. */
export function translateTaken(error: unknown, names: IdentityNames): unknown {
  if (!(error instanceof UniqueViolation)) return error;
  return taken(error.columns.includes("email_key") ? names.email : names.phoneNumber);
}

function taken(attribute: string): InvalidError {
  return new InvalidError({ [attribute]: ["has already been taken"] });
}

export function newest(left: number | null, right: number | null): number | null {
  if (left === null || right === null) return left ?? right;
  return Math.max(left, right);
}
