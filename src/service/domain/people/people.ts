/** People: sections 4.1 and 4.2, and deletion. */
import type { Person, Properties, SentPerson } from "../../../contract/resources.ts";
import type { SurveyStatus } from "../../../contract/text/survey-status.ts";
import { recallDigests } from "../delivery/digests.ts";
import { checkRecordedTime } from "../recorded-time.ts";
import { InvalidError } from "../errors.ts";
import { type JsonPage, parseCursor, parseId, toPage } from "../ids.ts";
import type { PeopleQuery, PersonReference, Project, SendInput } from "../inputs.ts";
import {
  changePerson,
  identify,
  PEOPLE_NAMES,
  requireReferenced,
  translateTaken,
  upsertPerson,
} from "./person-identity.ts";
import type { PersonRow, Position, Transaction } from "../ports.ts";
import { checkSpecialProperties } from "../surveys/special-properties.ts";
import { removePerson } from "./person-removal.ts";
import { carriedProperties, mergeProperties, storedProperties } from "./stored-properties.ts";
import { keepSuppressions } from "./suppressions.ts";
import {
  cancelWaiting,
  dueAfterDelay,
  findPause,
  refuseSurvey,
  scheduleSurvey,
  type SurveyRequest,
} from "../surveys/surveys.ts";
import { noteUnscheduled } from "../surveys/unscheduled/unscheduled.ts";

/** 4.1 as JSON texts, `Person` rows in creation order. */
export async function listPeopleJson(tx: Transaction, project: Project, query: PeopleQuery): Promise<JsonPage> {
  const after = parseCursor(query.after);
  if (query.email !== null || query.phoneNumber !== null)
    return onePerson(await namedPerson(tx, project, query), query, after);
  const { since, until, perPage, withProperties } = query;
  const ids = query.ids?.flatMap((id) => parseId(id) ?? []);
  const rows = await tx.people.list(project.id, { since, until, after, withProperties, ids, limit: perPage + 1 });
  return toPage(rows, perPage, (row) => {
    const last = JSON.parse(row) as Person;
    return { createdAt: last.created_at, id: Number(last.id) };
  });
}

/** The person whom the filter names; an address takes precedence over a number. */
async function namedPerson(tx: Transaction, project: Project, query: PeopleQuery): Promise<PersonRow | null> {
  if (query.email !== null) return tx.people.byEmail(project.id, query.email);
  return query.phoneNumber === null ? null : tx.people.byPhone(project.id, query.phoneNumber);
}

/** A page of one person or none. The row is already read, and a second look-up would cost as much as the first. */
function onePerson(
  row: PersonRow | null,
  { since, until, withProperties }: PeopleQuery,
  after: Position | null,
): JsonPage {
  const isListed =
    row !== null &&
    (since === null || row.createdAt >= since) &&
    (until === null || row.createdAt <= until) &&
    (after === null || row.createdAt > after.createdAt || (row.createdAt === after.createdAt && row.id > after.id));
  return { rows: isListed ? [personJson(row, withProperties)] : [], next: null };
}

/** `Person` as JSON, with the properties that are kept where they are asked for. */
function personJson(row: PersonRow, withProperties: boolean): string {
  const text = JSON.stringify(toPerson(row));
  return withProperties ? `${text.slice(0, -1)},"properties":${row.properties ?? "{}"}}` : text;
}

/** One row of such a list as it is now; null when the person is gone. */
export async function listedPersonJson(tx: Transaction, project: Project, id: string): Promise<string | null> {
  const row = await tx.people.byId(project.id, Number(id));
  return row === null ? null : personJson(row, true);
}

export function toPerson(row: PersonRow): Person {
  return {
    id: String(row.id),
    email: row.email,
    name: row.name,
    created_at: row.createdAt,
    phone_number: row.phoneNumber,
    last_sent_at: row.lastSentAt,
    last_responded_at: row.lastRespondedAt,
    next_survey_scheduled_at: row.nextSurveyAt,
  };
}

export interface SentResult {
  readonly person: SentPerson;
  readonly created: boolean;
  /** The reason why no survey was scheduled, or why the one that was does not leave; null where neither is so. */
  readonly status: SurveyStatus | null;
}

/**
 * 4.2: creates or updates a person and, unless `send` is false, throttling or suppression forbid it, schedules a
 * survey. One that is not scheduled is kept with the reason.
 */
export async function sendPerson(tx: Transaction, project: Project, input: SendInput): Promise<SentResult> {
  checkSendInput(input, tx.now);
  const { name, lastSentAt, properties: given, channel, delaySeconds } = input;
  checkSpecialProperties(given ?? {});
  const renames = input.emailUpdate !== null || input.phoneNumberUpdate !== null;
  const existing = renames ? await renamePerson(tx, project, input) : await identify(tx, project, input, PEOPLE_NAMES);
  const identity = renames
    ? { email: null, phoneNumber: null }
    : { email: input.email, phoneNumber: input.phoneNumber };
  const stored = input.replaceProperties && given !== null ? {} : storedProperties(existing);
  const kept = given === null ? null : JSON.stringify(mergeProperties(stored, given));
  // 4.2: a new address with send=false changes the address alone.
  const wanted = renames && !input.send ? NOTHING_NEW : { name, properties: kept, lastSentAt, ...identity };
  const isNew = existing === null;
  const properties = mergeProperties(carriedProperties(stored), given ?? {});
  const survey = { isNew, channel, delaySeconds, properties };
  const first = async (one: PersonRow): Promise<number | null> =>
    input.send && (await refuseSurvey(tx, project, one, survey)) === null ? dueAfterDelay(tx, survey) : null;
  const person = await upsertPerson(tx, project, existing, wanted, PEOPLE_NAMES, first);
  if (!input.send) return { person: toSentPerson(person, null, given), created: isNew, status: null };
  const scheduled = await scheduleOrNote(tx, project, person, survey);
  return { person: toSentPerson(person, scheduled.at, given), created: isNew, status: scheduled.status };
}

interface Scheduled extends Pick<SentResult, "status"> {
  readonly at: number | null;
}

async function scheduleOrNote(
  tx: Transaction,
  project: Project,
  person: PersonRow,
  survey: SurveyRequest,
): Promise<Scheduled> {
  // The row of a person who was just made has the time already.
  const hasTime = survey.isNew && person.nextSurveyAt !== null;
  const status = hasTime ? null : await refuseSurvey(tx, project, person, survey);
  if (status !== null) {
    await noteUnscheduled(tx, project, person.id, { channel: survey.channel, status });
    return { at: null, status };
  }
  const at = dueAfterDelay(tx, survey);
  await scheduleSurvey(tx, project, person.id, survey, at);
  return { at, status: await findPause(tx, project) };
}

function checkSendInput(input: SendInput, now: number): void {
  const { email, phoneNumber, channel, emailUpdate, phoneNumberUpdate, lastSentAt } = input;
  checkRecordedTime("last_sent_at", lastSentAt, now);
  if (email === null && (phoneNumber === null || emailUpdate !== null)) throw blank("email");
  if (phoneNumber === null && (channel === "sms" || phoneNumberUpdate !== null)) throw blank("phone_number");
}

const NOTHING_NEW = { email: null, phoneNumber: null, name: null, properties: null, lastSentAt: null };

function blank(attribute: string): InvalidError {
  return new InvalidError({ [attribute]: ["can't be blank"] });
}

/** 4.2: the answer has the properties of the request, and none of the stored ones. */
function toSentPerson(person: PersonRow, scheduledAt: number | null, given: Properties | null): SentPerson {
  return {
    id: String(person.id),
    email: person.email,
    name: person.name,
    survey_scheduled_at: scheduledAt,
    properties: given ?? {},
  };
}

/**
 * Deletes a person and all that belongs to them, out of digests too; a suppressed address stays suppressed, and the
 * unsubscribe links of messages that they have go on working. False when some of it is still to go. Throws
 * NotFoundError.
 */
export async function deletePerson(tx: Transaction, project: Project, reference: PersonReference): Promise<boolean> {
  const person = await requireReferenced(tx, project, reference);
  await keepSuppressions(tx, project, person);
  await tx.erasures.keepLinks(project.id, person.id);
  if (person.lastRespondedAt !== null) await recallDigests(tx, project);
  return removePerson(tx, project.id, person.id);
}

/**
 * Drops the surveys that wait to be sent to a person; false when none does. Their Autopilot goes on one interval later.
 * Throws NotFoundError.
 */
export async function cancelSurveys(tx: Transaction, project: Project, reference: PersonReference): Promise<boolean> {
  return cancelWaiting(tx, project, await requireReferenced(tx, project, reference));
}

const UPDATE_NAMES = { id: "id", email: "email_update", phoneNumber: "phone_number_update" };

/**
 * Gives the person whom the old values name the new ones. InvalidError if they belong to another person, or no person
 * has the old ones.
 */
async function renamePerson(tx: Transaction, project: Project, input: SendInput): Promise<PersonRow> {
  const person = await identify(tx, project, input, PEOPLE_NAMES);
  if (person === null) throw unknown(input.email === null ? "phone_number" : "email");
  if (input.emailUpdate !== null && !samePerson(person, input)) throw unknown("email");
  // With send=false the old values name the person and change nothing.
  const named = (value: string | null): string | null => (input.send ? value : null);
  if (input.phoneNumberUpdate !== null && person.phoneNumber !== input.phoneNumber) throw unknown("phone_number");
  try {
    return await changePerson(tx, project, person, {
      email: input.emailUpdate ?? person.email ?? named(input.email),
      phoneNumber: input.phoneNumberUpdate ?? named(input.phoneNumber) ?? person.phoneNumber,
    });
  } catch (error) {
    throw translateTaken(error, UPDATE_NAMES);
  }
}

/** True when the old e-mail is this person's own: the phone may belong to a person without one. */
function samePerson(person: PersonRow, input: SendInput): boolean {
  return input.email !== null && person.email !== null;
}

function unknown(attribute: string): InvalidError {
  return new InvalidError({ [attribute]: ["does not exist"] });
}
