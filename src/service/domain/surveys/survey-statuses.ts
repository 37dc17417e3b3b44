import type { Properties } from "../../../contract/resources.ts";
import type { SurveyStatus } from "../../../contract/text/survey-status.ts";
import { InvalidError } from "../errors.ts";
import type { Project, StatusInput } from "../inputs.ts";
import { identify, newest, PEOPLE_NAMES } from "../people/person-identity.ts";
import { storedProperties } from "../people/stored-properties.ts";
import { suppressionMarks } from "../people/suppressions.ts";
import type { PersonRow, Transaction } from "../ports.ts";
import { UNKNOWN_PERSON } from "../people/person-rows.ts";
import { findPause, refuseSurvey } from "./surveys.ts";

/** Why a survey requested now wouldn't be sent; null if it would, or if `sendPerson` would reject the request. */
export async function listSurveyStatuses(
  tx: Transaction,
  project: Project,
  people: readonly StatusInput[],
): Promise<readonly (SurveyStatus | null)[]> {
  const paused = await findPause(tx, project);
  const statuses = [];
  for (const input of people) statuses.push((await findStatus(tx, project, input)) ?? paused);
  return statuses;
}

async function findStatus(tx: Transaction, project: Project, input: StatusInput): Promise<SurveyStatus | null> {
  const { email, phoneNumber, channel, delaySeconds } = input;
  try {
    const known = await identify(tx, project, { email, phoneNumber }, PEOPLE_NAMES);
    const person: PersonRow = known ?? { ...UNKNOWN_PERSON, email, phoneNumber };
    const wanted: PersonRow = {
      ...person,
      email: person.email ?? email,
      phoneNumber: phoneNumber ?? person.phoneNumber,
      lastSentAt: newest(person.lastSentAt, input.lastSentAt),
    };
    // The person's new address may be suppressed.
    const isNewAddress = known === null || known.email !== wanted.email;
    const marks = isNewAddress ? await suppressionMarks(tx, project, wanted) : {};
    return await refuseSurvey(tx, project, { ...wanted, ...marks }, { channel, isNew: known === null, delaySeconds });
  } catch (error) {
    if (error instanceof InvalidError) return null;
    throw error;
  }
}

export async function listStoredProperties(
  { people: rows }: Transaction,
  { id }: Project,
  people: readonly StatusInput[],
): Promise<readonly Properties[]> {
  const found = [];
  for (const { email, phoneNumber } of people) {
    const byEmail = email === null ? null : await rows.byEmail(id, email);
    found.push(storedProperties(byEmail ?? (phoneNumber === null ? null : await rows.byPhone(id, phoneNumber))));
  }
  return found;
}
