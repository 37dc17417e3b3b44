/** Survey responses in the API (4.3 and 4.4); `answers.ts` has those from links. */
import { ANSWERS_BYTES_MAX, NOTES_LENGTH_MAX } from "../../../contract/limits.ts";
import type { AdditionalAnswer, SurveyResponse } from "../../../contract/resources.ts";
import type { Expansion } from "../../../contract/routes.ts";
import { InvalidError, NotFoundError } from "../errors.ts";
import { parseId } from "../ids.ts";
import type { Project, ResponseChange, ResponseInput, ResponsesQuery } from "../inputs.ts";
import type { JsonRows, ResponseRow, ResponseShape, Transaction } from "../ports.ts";
import { toAdditionalAnswers } from "../questions/answer-texts.ts";
import { findReferenced } from "../people/person-identity.ts";
import { listQuestions } from "../questions/questions.ts";
import { recallDigests } from "../delivery/digests.ts";
import { checkRecordedTime } from "../recorded-time.ts";
import { changeResponse, removeResponse, storeResponse } from "./response-changes.ts";
import { checkScore } from "./answers.ts";
import { noteOverwritten } from "../operation-log/operation-log.ts";
import { requireTrend } from "./trends.ts";
import { noteEvent } from "../webhooks/events.ts";

export interface Links {
  /** `{app_url}/r/<token>` */
  permalink(token: string): string;
}

/** 4.3 as JSON. An unknown person gives an empty list, an unknown trend an InvalidError. */
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
  const filter = {
    since,
    until,
    updatedSince,
    updatedUntil,
    personId,
    trendId,
    order,
    limit: perPage,
    offset: (query.page - 1) * perPage,
  };
  return tx.responses.list(project.id, filter, toShape(query.expand, links));
}

export async function responseJson(
  tx: Transaction,
  project: Project,
  id: string,
  expand: ReadonlySet<Expansion>,
  links: Links,
): Promise<string | null> {
  return tx.responses.json(project.id, Number(id), toShape(expand, links));
}

/** Id of the person to filter by; null without a filter, undefined for an unknown person. */
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

function toShape(expand: ReadonlySet<Expansion>, links: Links): ResponseShape {
  return { expandPerson: expand.has("person"), expandNotes: expand.has("notes"), permalinkPrefix: links.permalink("") };
}

/** 4.4 */
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

/** Answers collected elsewhere; only the new response gives their ids. Throws InvalidError. */
async function storeCollected(
  tx: Transaction,
  project: Project,
  id: number,
  { additionalAnswers = [], answers = {} }: ResponseInput,
): Promise<void> {
  const known = new Set(additionalAnswers.map(({ question }) => question.id));
  const texts = Object.fromEntries(Object.entries(answers).filter(([question]) => !known.has(question)));
  const isNamed = Object.keys(texts).length > 0;
  const added = isNamed ? toAdditionalAnswers(await listQuestions(tx, project), texts, id) : [];
  const all = [...additionalAnswers, ...added];
  checkSize(all, isNamed);
  if (all.length > 0) await changeResponse(tx, project.id, id, { additionalAnswers: all, updatedAt: tx.updatedAt });
}

/** Texts by question take several times as many bytes as additional answers. */
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
  const json = await tx.responses.json(project.id, id, toShape(expand, links));
  if (json === null) throw new NotFoundError("no such response");
  return JSON.parse(json) as SurveyResponse;
}

/** `updated_at` only changes if something differs. Throws NotFoundError. */
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
  const personId =
    change.personId === undefined ? existing.personId : await requirePerson(tx, project, change.personId);
  const wanted = { ...existing, ...withoutUndefined(change), personId };
  const isChanged = differs(existing, wanted) || change.note !== undefined;
  if (isChanged) await changeResponse(tx, project.id, existing.id, { ...pickStored(wanted), updatedAt: tx.updatedAt });
  const overwritten = OVERWRITTEN.filter(([each]) => JSON.stringify(existing[each]) !== JSON.stringify(wanted[each]));
  const fields = overwritten.map(([, name]) => name);
  if (fields.length > 0) noteOverwritten(tx, "responses.update", existing.id, fields);
  if (change.note !== undefined) await appendNote(tx, project, existing.id, change.note, links);
  if (isChanged) await noteEvent(tx, project, { type: "survey_response.updated", responseId: existing.id });
  return readResponse(tx, project, existing.id, expand, links);
}

/** Deletes a response with its notes, and removes it from lists, counts and digests. Throws NotFoundError. */
export async function deleteResponse(tx: Transaction, project: Project, id: string): Promise<void> {
  const key = parseId(id);
  if (key === null || !(await removeResponse(tx, project.id, key))) throw new NotFoundError("no such response");
  noteOverwritten(tx, "responses.delete", key);
  await recallDigests(tx, project);
}

/** Those that leave a line in the log: tags and notes are added rather than overwritten. */
const OVERWRITTEN = [
  ["personId", "person"],
  ["score", "score"],
  ["comment", "comment"],
  ["personProperties", "person_properties"],
] as const;

/** Author of notes from the API, whose keys don't belong to a single person. */
const API_USER = "api@localhost";

async function appendNote(tx: Transaction, project: Project, id: number, text: string, links: Links): Promise<void> {
  const { notes } = await readResponse(tx, project, id, new Set<Expansion>(["notes"]), links);
  if (JSON.stringify([...notes, text]).length > NOTES_LENGTH_MAX)
    throw new InvalidError({ notes: [`are full (maximum is ${NOTES_LENGTH_MAX} characters in all)`] });
  await tx.responses.addNote(project.id, id, { text, userEmail: API_USER, createdAt: tx.now });
}

function withoutUndefined({ score, comment, personProperties, tags }: ResponseChange): Partial<ResponseRow> {
  return {
    ...(score === undefined ? {} : { score }),
    ...(comment === undefined ? {} : { comment }),
    ...(personProperties === undefined ? {} : { personProperties }),
    ...(tags === undefined ? {} : { tags }),
  };
}

function pickStored({
  personId,
  score,
  comment,
  personProperties,
  tags,
}: ResponseRow): Pick<ResponseRow, "personId" | "score" | "comment" | "personProperties" | "tags"> {
  return { personId, score, comment, personProperties, tags };
}

function differs(left: ResponseRow, right: ResponseRow): boolean {
  return JSON.stringify(pickStored(left)) !== JSON.stringify(pickStored(right));
}
