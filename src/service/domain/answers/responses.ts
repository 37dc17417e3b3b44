/** Survey responses in the API (4.3 and 4.4); `answers.ts` handles responses through links. */
import { ANSWERS_BYTES_MAX, NOTES_LENGTH_MAX } from "../../../contract/limits.ts";
import type { AdditionalAnswer, SurveyResponse } from "../../../contract/resources.ts";
import type { Expansion } from "../../../contract/routes.ts";
import { InvalidError, NotFoundError } from "../errors.ts";
import { parseId } from "../ids.ts";
import type { Project, ResponseChange, ResponseInput, ResponsesQuery } from "../inputs.ts";
import type { JsonRows, ResponseShape, Transaction } from "../ports.ts";
import { toAdditionalAnswers } from "./answer-texts.ts";
import { findReferenced } from "../people/person-identity.ts";
import { recallDigests } from "../delivery/digests.ts";
import { checkRecordedTime } from "../write-time.ts";
import { changeResponse, removeResponse, storeResponse } from "./response-changes.ts";
import { checkScore } from "./answers.ts";
import { noteOverwritten } from "../operation-log/operation-log.ts";
import { requireTrend } from "./trends.ts";
import { noteEvent } from "../webhooks/events.ts";

export interface Links {
  /** `{app_url}/r/<token>` */
  permalink(token: string): string;
}

/** Lists responses as JSON (4.3). An unknown person gives an empty list, an unknown trend an InvalidError. */
export async function listResponsesJson(
  tx: Transaction,
  project: Project,
  query: ResponsesQuery,
  links: Links,
): Promise<JsonRows> {
  const trendId = query.trend === null ? null : await requireTrend(tx, project, query.trend);
  const personId = await filteredPerson(tx, project, query);
  if (personId === undefined) return [];
  const { since, until, updatedSince, updatedUntil, order, perPage } = query;
  const ranges = { since, until, updatedSince, updatedUntil };
  const filter = { ...ranges, personId, trendId, order, limit: perPage, offset: (query.page - 1) * perPage };
  return tx.responses.list(project.id, filter, responseShape(query.expand, links));
}

/** Null without a filter, undefined for an unknown person. */
async function filteredPerson(
  tx: Transaction,
  project: Project,
  query: ResponsesQuery,
): Promise<number | null | undefined> {
  const byId = query.personId === null ? null : (parseId(query.personId) ?? undefined);
  if (query.personEmail === null || byId === undefined) return byId;
  const byEmail = (await tx.people.byEmail(project.id, query.personEmail))?.id;
  return byId === null || byId === byEmail ? byEmail : undefined;
}

export function responseShape(expand: ReadonlySet<Expansion>, links: Links): ResponseShape {
  return { expandPerson: expand.has("person"), expandNotes: expand.has("notes"), permalinkPrefix: links.permalink("") };
}

/** Adds a response (4.4). */
export async function addResponse(
  tx: Transaction,
  project: Project,
  input: ResponseInput,
  links: Links,
): Promise<SurveyResponse> {
  checkScore(input.score);
  checkRecordedTime("created_at", input.createdAt, tx.now);
  const { score, comment, personProperties } = input;
  const id = await storeResponse(tx, project.id, {
    personId: await requirePerson(tx, project, input.personId),
    score,
    comment,
    personProperties,
    token: tx.token(),
    createdAt: input.createdAt ?? tx.now,
    updatedAt: tx.updatedAt,
    requestId: null,
  });
  await storeCollected(tx, project, id, input);
  await noteEvent(tx, project, { type: "survey_response.created", responseId: id });
  return readResponse(tx, project, id, new Set<Expansion>(["notes"]), links);
}

/** Ids of answers contain the response's id, so the response is stored first. Throws InvalidError. */
async function storeCollected(
  tx: Transaction,
  project: Project,
  id: number,
  { additionalAnswers = [], answers = {} }: ResponseInput,
): Promise<void> {
  const known = new Set(additionalAnswers.map(({ question }) => question.id));
  const texts = Object.fromEntries(Object.entries(answers).filter(([question]) => !known.has(question)));
  const isNamed = Object.keys(texts).length > 0;
  const added = isNamed ? toAdditionalAnswers(await tx.questions.list(project.id), texts, id) : [];
  const all = [...additionalAnswers, ...added];
  checkSize(all, isNamed);
  if (all.length > 0) await changeResponse(tx, project.id, id, { additionalAnswers: all, updatedAt: tx.updatedAt });
}

/** Converting `answers` to the API's form makes them several times larger, so the size is checked afterwards. */
function checkSize(all: readonly AdditionalAnswer[], byQuestion: boolean): void {
  if (Buffer.byteLength(JSON.stringify(all)) <= ANSWERS_BYTES_MAX) return;
  const maximum = `(maximum is ${ANSWERS_BYTES_MAX} bytes)`;
  throw new InvalidError(
    byQuestion
      ? { answers: [`are too large as additional answers ${maximum}`] }
      : { additional_answers: [`is too large ${maximum}`] },
  );
}

export async function requirePerson(tx: Transaction, project: Project, text: string): Promise<number> {
  const person = await findReferenced(tx, project, { by: "id", id: text });
  if (person === null) throw new InvalidError({ person: ["does not exist"] });
  return person.id;
}

export async function getResponse(
  tx: Transaction,
  project: Project,
  id: string,
  expand: ReadonlySet<Expansion>,
  links: Links,
): Promise<SurveyResponse> {
  const key = parseId(id);
  if (key === null) throw new NotFoundError("no such response");
  return readResponse(tx, project, key, expand, links);
}

async function readResponse(
  tx: Transaction,
  project: Project,
  id: number,
  expand: ReadonlySet<Expansion>,
  links: Links,
): Promise<SurveyResponse> {
  const json = await tx.responses.json(project.id, id, responseShape(expand, links));
  if (json === null) throw new NotFoundError("no such response");
  return JSON.parse(json) as SurveyResponse;
}

/** Only sets `updated_at` if something changes. Throws NotFoundError. */
export async function updateResponse(
  tx: Transaction,
  project: Project,
  id: string,
  change: ResponseChange,
  expand: ReadonlySet<Expansion>,
  links: Links,
): Promise<SurveyResponse> {
  const key = parseId(id);
  const existing = key === null ? null : await tx.responses.byId(project.id, key);
  if (existing === null) throw new NotFoundError("no such response");
  if (change.score !== undefined) checkScore(change.score);
  const { note, personId, ...fields } = change;
  const given = { ...fields, ...(personId !== undefined && { personId: await requirePerson(tx, project, personId) }) };
  const changed = Object.fromEntries(
    Object.entries(given).filter(
      ([field, value]) => JSON.stringify(value) !== JSON.stringify(existing[field as keyof typeof given]),
    ),
  );
  const isChanged = Object.keys(changed).length > 0 || note !== undefined;
  if (isChanged)
    await changeResponse(tx, project.id, existing.id, { ...changed, isEdit: true, updatedAt: tx.updatedAt });
  else await tx.responses.countEdit(project.id, existing.id);
  const overwritten = OVERWRITTEN.flatMap(([field, name]) => (Object.hasOwn(changed, field) ? [name] : []));
  if (overwritten.length > 0) noteOverwritten(tx, "responses.update", existing.id, overwritten);
  if (note !== undefined) await appendNote(tx, project, existing.id, note, links);
  if (isChanged) await noteEvent(tx, project, { type: "survey_response.updated", responseId: existing.id });
  return readResponse(tx, project, existing.id, expand, links);
}

/** Also removes the response from digests. Throws NotFoundError. */
export async function deleteResponse(tx: Transaction, project: Project, id: string): Promise<void> {
  const key = parseId(id);
  if (key === null || !(await removeResponse(tx, project.id, key))) throw new NotFoundError("no such response");
  noteOverwritten(tx, "responses.delete", key);
  await recallDigests(tx, project);
}

/** Fields whose changes are logged. Tags and notes are added, not overwritten. */
const OVERWRITTEN = [
  ["personId", "person"],
  ["score", "score"],
  ["comment", "comment"],
  ["personProperties", "person_properties"],
] as const;

/** Author of notes from the API, because keys don't belong to a person. */
const API_USER = "api@localhost";

async function appendNote(tx: Transaction, project: Project, id: number, text: string, links: Links): Promise<void> {
  const { notes } = await readResponse(tx, project, id, new Set<Expansion>(["notes"]), links);
  if (JSON.stringify([...notes, text]).length > NOTES_LENGTH_MAX)
    throw new InvalidError({ notes: [`are full (maximum is ${NOTES_LENGTH_MAX} characters in all)`] });
  await tx.responses.addNote(project.id, id, { text, userEmail: API_USER, createdAt: tx.now });
}
