import type { Person, Properties, SentPerson } from "../../../contract/resources.ts";
import type { SurveyStatus } from "../../../contract/text/survey-status.ts";
import { recallDigests } from "../delivery/digests.ts";
import { checkRecordedTime } from "../write-time.ts";
import { InvalidError } from "../errors.ts";
import { type JsonPage, parseCursor, parseId, toPage } from "../ids.ts";
import { noteOverwritten } from "../operation-log/operation-log.ts";
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
import { describeWrite, type PersonWrite } from "./person-write.ts";
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

/** Lists people in the order of creation (4.1). */
export async function listPeopleJson(tx: Transaction, project: Project, query: PeopleQuery): Promise<JsonPage> {
  const after = parseCursor(query.after);
  const { email, phoneNumber } = query;
  if (email !== null) return onePerson(await tx.people.byEmail(project.id, email), query, after);
  if (phoneNumber !== null) return onePerson(await tx.people.byPhone(project.id, phoneNumber), query, after);
  const { since, until, perPage, withProperties } = query;
  const ids = query.ids?.flatMap((id) => parseId(id) ?? []);
  const rows = await tx.people.list(project.id, { since, until, after, withProperties, ids, limit: perPage + 1 });
  return toPage(rows, perPage, (row) => {
    const last = JSON.parse(row) as Person;
    return { createdAt: last.created_at, id: Number(last.id) };
  });
}

/** The caller passes the row, because another look-up would double the cost. */
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

function personJson(row: PersonRow, withProperties: boolean): string {
  const text = JSON.stringify(toPerson(row));
  return withProperties ? `${text.slice(0, -1)},"properties":${row.properties ?? "{}"}}` : text;
}

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
  /** Why no survey was scheduled, or what holds it up. */
  readonly status: SurveyStatus | null;
  /** Undefined if the person was renamed. */
  readonly write: (() => PersonWrite) | undefined;
}

/**
 * 4.2: creates or updates a person and schedules a survey, unless `send` is false or throttling or a suppression
 * prevents it. Records why a survey isn't scheduled.
 */
export async function sendPerson(tx: Transaction, project: Project, input: SendInput): Promise<SentResult> {
  checkRecordedTime("last_sent_at", input.lastSentAt, tx.now);
  checkAddresses(input);
  checkSpecialProperties(input.properties ?? {});
  const isRename = input.emailUpdate !== null || input.phoneNumberUpdate !== null;
  const old = isRename ? null : await identify(tx, project, input, PEOPLE_NAMES);
  const saved = isRename ? await renamePerson(tx, project, input) : await savePerson(tx, project, old, input);
  const { at, status, survey } = input.send ? await scheduleUnlessRefused(tx, project, saved) : NO_SURVEY;
  return {
    person: toSentPerson(saved.person, at, input.properties),
    created: saved.survey.isNew,
    status,
    write: isRename ? undefined : () => describeWrite(old, saved.person, { survey, survey_at: at }),
  };
}

const NO_SURVEY = { at: null, status: null, survey: null };

/** Requires an e-mail or a phone number; to change one, the old value must be given (4.2). Throws InvalidError. */
export function checkAddresses(input: Omit<SendInput, "name" | "properties">): void {
  const { email, phoneNumber, channel, emailUpdate, phoneNumberUpdate } = input;
  const needsPhone = channel === "sms" || phoneNumberUpdate !== null;
  const needsEmail = emailUpdate !== null || (phoneNumber === null && !needsPhone);
  const blank = ["can't be blank"];
  const errors = {
    ...(email === null && needsEmail && { email: blank }),
    ...(phoneNumber === null && needsPhone && { phone_number: blank }),
  };
  if (Object.keys(errors).length > 0) throw new InvalidError(errors);
}

interface SavedPerson {
  readonly person: PersonRow;
  readonly survey: SurveyRequest;
}

async function savePerson(
  tx: Transaction,
  project: Project,
  existing: PersonRow | null,
  { email, phoneNumber, name, lastSentAt, properties: given, ...input }: SendInput,
): Promise<SavedPerson> {
  const stored = input.replaceProperties && given !== null ? {} : storedProperties(existing);
  const kept = given === null ? null : JSON.stringify(mergeProperties(stored, given));
  const properties = mergeProperties(carriedProperties(stored), given ?? {});
  const survey = { isNew: existing === null, channel: input.channel, delaySeconds: input.delaySeconds, properties };
  const wanted = { email, phoneNumber, name, properties: kept, lastSentAt };
  const first = async (one: PersonRow): Promise<number | null> =>
    input.send && (await refuseSurvey(tx, project, one, survey)) === null ? dueAfterDelay(tx, survey) : null;
  return { person: await upsertPerson(tx, project, existing, wanted, PEOPLE_NAMES, first), survey };
}

async function scheduleUnlessRefused(
  tx: Transaction,
  project: Project,
  { person, survey }: SavedPerson,
): Promise<Pick<SentResult, "status"> & { readonly at: number | null; readonly survey: string | null }> {
  // A new person's row already has the time.
  const hasTime = survey.isNew && person.nextSurveyAt !== null;
  const status = hasTime ? null : await refuseSurvey(tx, project, person, survey);
  if (status !== null) {
    await tx.unscheduled.add(project.id, { personId: person.id, channel: survey.channel, status });
    return { ...NO_SURVEY, status };
  }
  const at = dueAfterDelay(tx, survey);
  const id = await scheduleSurvey(tx, project, person.id, survey, at);
  return { at, status: await findPause(tx, project), survey: String(id) };
}

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
 * Deletes a person, even from digests. A suppressed address stays suppressed, and unsubscribe links in sent messages
 * still work. Returns false if long changes have to finish it later. Throws NotFoundError.
 */
export async function deletePerson(tx: Transaction, project: Project, reference: PersonReference): Promise<boolean> {
  const person = await requireReferenced(tx, project, reference);
  await keepSuppressions(tx, project, person);
  await tx.erasures.keepLinks(project.id, person.id);
  if (person.lastRespondedAt !== null) await recallDigests(tx, project);
  noteOverwritten(tx, "people.delete", person.id);
  return removePerson(tx, project.id, person.id);
}

/** Returns false if no survey is pending. Autopilot continues one interval later. */
export async function cancelSurveys(tx: Transaction, project: Project, reference: PersonReference): Promise<boolean> {
  return cancelWaiting(tx, project, await requireReferenced(tx, project, reference));
}

const UPDATE_NAMES = { id: "id", email: "email_update", phoneNumber: "phone_number_update" };

/**
 * The old values identify the person; with send=false, nothing else changes. Throws InvalidError if no one has the old
 * values, or someone else the new ones.
 */
async function renamePerson(tx: Transaction, project: Project, input: SendInput): Promise<SavedPerson> {
  const person = await identify(tx, project, input, PEOPLE_NAMES);
  if (person === null) throw unknown(input.email === null ? "phone_number" : "email");
  if (input.emailUpdate !== null && (input.email === null || person.email === null)) throw unknown("email");
  if (input.phoneNumberUpdate !== null && person.phoneNumber !== input.phoneNumber) throw unknown("phone_number");
  // With send=false, the old values only identify the person.
  const named = (value: string | null): string | null => (input.send ? value : null);
  const renamed = await changePerson(tx, project, person, {
    email: input.emailUpdate ?? person.email ?? named(input.email),
    phoneNumber: input.phoneNumberUpdate ?? named(input.phoneNumber) ?? person.phoneNumber,
  }).catch((error: unknown) => {
    throw translateTaken(error, UPDATE_NAMES);
  });
  const rest = input.send ? {} : { name: null, properties: null, lastSentAt: null };
  return savePerson(tx, project, renamed, { ...input, ...rest, email: null, phoneNumber: null });
}

function unknown(attribute: string): InvalidError {
  return new InvalidError({ [attribute]: ["does not exist"] });
}
