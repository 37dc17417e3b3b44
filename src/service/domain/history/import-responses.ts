import { plainAnswers } from "../../../contract/questions/additional-answers.ts";
import type { Json } from "../../../contract/json.ts";
import type { Note } from "../../../contract/resources.ts";
import { replacePastResponse, storePastResponses } from "../answers/response-changes.ts";
import type { Project } from "../inputs.ts";
import type { Transaction } from "../ports.ts";
import { findErasures, noteErasure } from "../privacy/erasure-log.ts";
import {
  type ConflictPolicy,
  hasNoAddress,
  type Imported,
  isSomebodyElse,
  type Merged,
  type Outcomes,
  PeopleImport,
  type RowFinding,
} from "./import-people.ts";
import { toAdditionalAnswers } from "../answers/answer-texts.ts";
import type { Question } from "../questions/question-rows.ts";
import { noteEvent } from "../webhooks/events.ts";
import type { HistoryStep, PastNote, PastPerson, PastResponse } from "./rows.ts";
import type { NewPastResponse, StoredPastResponse } from "../answers/response-columns.ts";

export type PastRows =
  | { readonly step: Exclude<HistoryStep, "responses">; readonly rows: readonly PastPerson[] }
  | { readonly step: "responses"; readonly rows: readonly PastResponse[] };

export interface HistoryChoices {
  readonly policy: ConflictPolicy;
  /** Sends these responses to webhooks, even though they aren't new. */
  readonly webhooks: boolean;
}

/** Importing a batch again has no effect. */
export async function importHistory(
  tx: Transaction,
  project: Project,
  batch: PastRows,
  { policy, webhooks }: HistoryChoices,
): Promise<Imported> {
  const firstFree = await tx.history.reserve(project.id, highestId(batch));
  const { events, ...imported } = await importBatch(tx, project, batch, { policy, firstFree });
  if (webhooks) for (const event of events) await noteEvent(tx, project, event);
  return imported;
}

interface ImportRules {
  readonly policy: ConflictPolicy;
  /** The first id above all ids in use in the project. Higher ids need no look-up. */
  readonly firstFree: number;
}

async function importBatch(tx: Transaction, project: Project, batch: PastRows, rules: ImportRules): Promise<Outcomes> {
  const { step } = batch;
  const rows: readonly (PastPerson | PastResponse)[] = batch.rows;
  const erased = step === "suppressions" ? [] : await findErasedRows(tx, project, rows);
  if (erased.length === 0) return importRows(tx, project, batch, rules);
  const isErased = new Set(erased.map(({ index }) => index));
  const places = rows.flatMap((_, index) => (isErased.has(index) ? [] : [index]));
  const left = { step, rows: places.map((index) => rows[index]) } as PastRows;
  const imported = await importRows(tx, project, left, rules);
  const placed = (findings: readonly RowFinding[]): RowFinding[] =>
    findings.map((finding) => ({ ...finding, index: places[finding.index] ?? finding.index }));
  return { ...imported, refused: placed(imported.refused), conflicts: [...placed(imported.conflicts), ...erased] };
}

async function importRows(tx: Transaction, project: Project, batch: PastRows, rules: ImportRules): Promise<Outcomes> {
  const people = new PeopleImport(tx, project);
  if (batch.step === "responses") await importResponses(tx, project, { people, rows: batch.rows }, rules);
  else if (batch.step === "suppressions") await people.suppress(batch.rows);
  else {
    await people.read(batch.rows, rules.firstFree);
    await people.import(batch.rows, rules.policy);
  }
  return people.outcomes;
}

/** Includes rows that identify an erased person only by the source's id. */
async function findErasedRows(
  tx: Transaction,
  project: Project,
  rows: readonly (PastPerson | PastResponse)[],
): Promise<RowFinding[]> {
  if ((await tx.erasures.list(project.id, 1)).length === 0) return [];
  const people = rows.map((row) => ("person" in row ? row.person : row));
  // Ids are per project, so the source may use an id that another person has here.
  const ids = people.flatMap(({ id }) => id ?? []);
  const stored = await tx.history.markedUpTo(project.id, ids);
  const identifiers = people.map(({ id, email, phoneNumber }) => {
    const isNamed = email !== null || phoneNumber !== null;
    return { id: isNamed || (id !== null && stored.has(id)) ? null : id, email, phoneNumber };
  });
  const times = await findErasures(tx, project, identifiers);
  const findings: RowFinding[] = [];
  for (const [index, row] of rows.entries()) {
    const at = times[index] ?? null;
    if (at === null || (row.createdAt ?? 0) > at) continue;
    const { id } = people[index] ?? row;
    if (id !== null && !stored.has(id)) await noteErasure(tx, project, { id, email: null, phoneNumber: null });
    findings.push({ index, text: "the person was erased here; the row is left out" });
  }
  return findings;
}

function highestId(batch: PastRows): number {
  let highest = 0;
  const look = (id: number | null): void => void (highest = Math.max(highest, id ?? 0));
  for (const row of batch.rows) {
    look(row.id);
    if (!("person" in row)) continue;
    look(row.person.id);
    for (const note of row.notes ?? []) look(note.id);
  }
  return highest;
}

type PlacedResponse = PastResponse & { readonly id: number };

function toPlaced(questions: readonly Question[], { answers = {}, ...row }: PastResponse, id: number): PlacedResponse {
  const known = new Set(plainAnswers({ additional_answers: row.additionalAnswers }).map((answer) => answer.id));
  const texts = Object.fromEntries(Object.entries(answers).filter(([question]) => !known.has(question)));
  const added = toAdditionalAnswers(questions, texts, id) as unknown as Json[];
  if (added.length === 0) return { ...row, id };
  return { ...row, id, additionalAnswers: [...(row.additionalAnswers ?? []), ...added] };
}

interface ResponseRows {
  readonly people: PeopleImport;
  readonly rows: readonly PastResponse[];
}

async function importResponses(
  tx: Transaction,
  project: Project,
  { people, rows }: ResponseRows,
  { policy, firstFree }: ImportRules,
): Promise<void> {
  const { outcomes } = people;
  const questions = rows.some(({ answers }) => answers !== undefined) ? await tx.questions.list(project.id) : [];
  // Most rows name their person only by id. For these people, only reads up to which time their rows reflect answers.
  const aloneIds = rows.flatMap(({ person }) => (isIdAlone(person) ? (person.id ?? []) : []));
  const markedUpTo = await tx.history.markedUpTo(project.id, aloneIds);
  const isHere = (person: PastPerson): boolean => isIdAlone(person) && markedUpTo.has(person.id ?? 0);
  const others = rows.flatMap(({ person }) => (isHere(person) ? [] : [person]));
  await people.read(others, firstFree);
  const places: (number | null)[] = [];
  for (const [index, row] of rows.entries())
    places.push(isHere(row.person) ? row.person.id : await placePerson(people, row, index));
  await people.store();
  const ids = rows.flatMap(({ id }) => (id === null || id >= firstFree ? [] : [id]));
  const stored = new Map((await tx.history.responses(project.id, ids)).map((row) => [row.id, row]));
  const added: NewPastResponse[] = [];
  const answered = new Map<number, number>();
  for (const [index, row] of rows.entries()) {
    const personId = places[index] ?? null;
    if (personId === null) continue;
    if (row.createdAt > (answered.get(personId) ?? -1)) answered.set(personId, row.createdAt);
    const found = await findStored(tx, project, { row, personId, stored, added });
    const placed = toPlaced(questions, row, found?.id ?? row.id ?? (await tx.history.newId(project.id)));
    if (found === null) {
      added.push(await toStored(tx, project, placed, personId));
      outcomes.kept += 1;
      continue;
    }
    const merged = await mergeResponse(tx, project, { found, row: placed, personId, policy });
    people.note(index, merged);
    if (merged === "changed") outcomes.events.push({ type: "survey_response.updated", responseId: found.id });
  }
  await storePastResponses(tx, project.id, added);
  for (const { id } of added) outcomes.events.push({ type: "survey_response.created", responseId: id });
  await tx.history.markAnswered(
    project.id,
    [...answered].flatMap(([id, at]) => (at > (markedUpTo.get(id) ?? -1) ? [{ id, at }] : [])),
  );
}

/** Null if the row is rejected. */
async function placePerson(
  people: PeopleImport,
  { person, createdAt }: PastResponse,
  index: number,
): Promise<number | null> {
  const found = people.find(person);
  if (found === null) {
    const made = await people.add(person, createdAt);
    if (hasNoAddress(made)) people.outcomes.nameless.push(made.id);
    return made.id;
  }
  if (person.id === found.id && isSomebodyElse(found, person)) {
    people.note(index, { kind: "refused", text: `person ${found.id} is someone else in this project` });
    return null;
  }
  await people.complete(found, person);
  return found.id;
}

function isIdAlone({ email, phoneNumber, createdAt }: PastPerson): boolean {
  return email === null && phoneNumber === null && createdAt === null;
}

interface Search {
  readonly row: PastResponse;
  readonly personId: number;
  readonly stored: ReadonlyMap<number, StoredPastResponse>;
  readonly added: readonly StoredPastResponse[];
}

async function findStored(
  tx: Transaction,
  project: Project,
  { row, personId, stored, added }: Search,
): Promise<StoredPastResponse | null> {
  if (row.id !== null) return stored.get(row.id) ?? null;
  const isRow = (each: StoredPastResponse): boolean =>
    each.personId === personId && each.createdAt === row.createdAt && each.score === row.score;
  const id = await tx.history.findResponse(project.id, personId, row.createdAt, row.score);
  if (id === null) return added.find(isRow) ?? null;
  return (await tx.history.responses(project.id, [id]))[0] ?? null;
}

async function toStored(
  tx: Transaction,
  project: Project,
  row: PlacedResponse,
  personId: number,
): Promise<NewPastResponse> {
  const { id, surveyType, score, comment, createdAt, permalink, tags, additionalAnswers } = row;
  const notes: Note[] = [];
  for (const note of row.notes ?? []) notes.push(toNote(note, note.id ?? (await tx.history.newId(project.id))));
  return {
    id,
    personId,
    surveyType,
    score,
    comment,
    createdAt,
    updatedAt: row.updatedAt ?? tx.updatedAt,
    properties: JSON.stringify(row.properties),
    tags: JSON.stringify(tags ?? []),
    additionalAnswers: JSON.stringify(additionalAnswers ?? []),
    notes: JSON.stringify(notes),
    noteIds: JSON.stringify(notes.map((note) => note.id)),
    ...(permalink !== undefined && { permalink }),
  };
}

function toNote({ text, userEmail, createdAt }: PastNote, id: number): Note {
  return { id: String(id), text, user_email: userEmail, created_at: createdAt };
}

interface ResponseMerge {
  readonly found: StoredPastResponse;
  readonly row: PlacedResponse;
  readonly personId: number;
  readonly policy: ConflictPolicy;
}

async function mergeResponse(
  tx: Transaction,
  project: Project,
  { found, row, personId, policy }: ResponseMerge,
): Promise<Merged> {
  if (found.personId !== personId && found.createdAt !== row.createdAt)
    return { kind: "refused", text: `id ${found.id} belongs to another response in this project` };
  const differing = differences(found, row, personId);
  if (differing.length === 0) return "same";
  if (policy === "keep")
    return { kind: "conflicts", text: `response ${found.id} is stored with another ${differing.join(", ")}` };
  const wanted = await toStored(tx, project, row, personId);
  const { tags, notes, noteIds, additionalAnswers } = found;
  await replacePastResponse(tx, project.id, {
    ...wanted,
    ...(row.tags === null && { tags }),
    ...(row.notes === null && { notes, noteIds }),
    ...(row.additionalAnswers === null && { additionalAnswers }),
  });
  return "changed";
}

/** Omits fields that the source lacks. */
function differences(found: StoredPastResponse, row: PastResponse, personId: number): string[] {
  const notes = JSON.parse(found.notes) as Note[];
  // Compares a note without an id under the id that the import gave it.
  const given = row.notes?.map((note, at) => toNote(note, note.id ?? Number(notes[at]?.id)));
  const pairs: readonly (readonly [name: string, stored: unknown, given: unknown])[] = [
    ["person", found.personId, personId],
    ["survey_type", found.surveyType, row.surveyType],
    ["score", found.score, row.score],
    ["comment", found.comment, row.comment],
    ["created_at", found.createdAt, row.createdAt],
    ["updated_at", found.updatedAt, row.updatedAt],
    ["person_properties", JSON.parse(found.properties), row.properties],
    ["tags", JSON.parse(found.tags), row.tags],
    ["notes", notes, given ?? null],
    ["additional_answers", JSON.parse(found.additionalAnswers), row.additionalAnswers],
  ];
  const optional = new Set(["updated_at", "tags", "notes", "additional_answers"]);
  return pairs.flatMap(([name, stored, wanted]) => {
    if (optional.has(name) && wanted === null) return [];
    return canonical(stored) === canonical(wanted) ? [] : [name];
  });
}

function canonical(value: unknown): string {
  return JSON.stringify(value, (_, part: Json) =>
    typeof part === "object" && part !== null && !Array.isArray(part)
      ? Object.fromEntries(Object.entries(part).toSorted(([one], [other]) => (one < other ? -1 : 1)))
      : part,
  );
}
