import type { Note, Properties } from "../../../../contract/resources.ts";
import type { NewNote, NewResponse, ResponseRow, ResponseRows, StoredResponseChange } from "../../../domain/ports.ts";
import type { Database } from "../engine/database.ts";
import type { SqlRow } from "../engine/engine.ts";
import { nextId, reserveId } from "../sql/next-id.ts";
import { responsesBy } from "../lists/counted-lists.ts";
import type { ListBlocks } from "../lists/list-blocks.ts";
import { enterResponse, leaveResponse } from "./response-changes.ts";
import { listResponses, responseJson } from "./response-lists.ts";

export function createResponseRows(database: Database, blocks: ListBlocks): ResponseRows {
  return {
    byId: async (project, id) => toResponse(database.first(RESPONSE, [project, id])),
    insert: async (project, response) => insertResponse(database, blocks, project, response),
    update: async (project, id, change) => updateResponse(database, blocks, project, id, change),
    json: async (project, id, shape) => responseJson(database, project, id, shape),
    list: async (project, filter, shape) => listResponses(database, blocks, project, filter, shape),
    countScores: async (project, { trendId, ...range }) =>
      blocks.countScores(responsesBy(project, trendId, "created_at"), range),
    addNote: async (project, responseId, note) => addNote(database, project, responseId, note),
    byToken: async (token) => findByToken(database, token),
  };
}

const RESPONSE = `SELECT id, person_id AS "personId", score, comment, person_properties AS properties, tags, created_at AS "createdAt", updated_at AS "updatedAt"
  FROM responses WHERE project_id = ? AND id = ?`;

function toResponse(row: SqlRow | null): ResponseRow | null {
  if (row === null) return null;
  const { properties, tags, ...rest } = row;
  return {
    ...(rest as Omit<ResponseRow, "personProperties" | "tags">),
    personProperties: JSON.parse(String(properties)) as Properties,
    tags: JSON.parse(String(tags)) as string[],
  };
}

function insertResponse(database: Database, blocks: ListBlocks, project: number, response: NewResponse): number {
  const id = response.id === undefined ? nextId(database, project) : reserveId(database, project, response.id);
  const { personId, requestId, score, comment, token, createdAt, updatedAt, personProperties } = response;
  database.run(
    `INSERT INTO responses (project_id, id, person_id, request_id, score, comment, token, created_at, updated_at, person_properties, tags, additional_answers)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    [
      project,
      id,
      personId,
      requestId,
      score,
      comment,
      token,
      createdAt,
      updatedAt,
      JSON.stringify(personProperties),
      JSON.stringify(response.tags ?? []),
      response.additionalAnswers ?? "[]",
    ],
  );
  database.run(
    "UPDATE people SET last_responded_at = ? WHERE project_id = ? AND id = ? AND (last_responded_at IS NULL OR last_responded_at < ?)",
    [createdAt, project, personId, createdAt],
  );
  enterResponse(database, blocks, project, { id, createdAt, updatedAt, score }, personProperties);
  return id;
}

function updateResponse(
  database: Database,
  blocks: ListBlocks,
  project: number,
  id: number,
  change: StoredResponseChange,
): void {
  const old = toResponse(database.first(RESPONSE, [project, id]));
  if (old === null) return;
  const row = { ...old, ...change };
  const { personId, score, comment, personProperties, tags, updatedAt } = row;
  leaveResponse(database, blocks, project, old);
  database.run(
    "UPDATE responses SET person_id = ?, score = ?, comment = ?, person_properties = ?, tags = ?, updated_at = ? WHERE project_id = ? AND id = ?",
    [personId, score, comment, JSON.stringify(personProperties), JSON.stringify(tags), updatedAt, project, id],
  );
  enterResponse(database, blocks, project, row, personProperties);
  if (personId === old.personId) return;
  for (const person of [old.personId, personId]) refreshLastResponse(database, project, person);
}

function refreshLastResponse(database: Database, project: number, personId: number): void {
  database.run(
    `UPDATE people SET last_responded_at =
       (SELECT max(r.created_at) FROM responses r WHERE r.project_id = people.project_id AND r.person_id = people.id)
     WHERE project_id = ? AND id = ?`,
    [project, personId],
  );
}

function addNote(database: Database, project: number, responseId: number, note: NewNote): number {
  const row = database.first("SELECT notes, note_ids AS ids FROM responses WHERE project_id = ? AND id = ?", [
    project,
    responseId,
  ]);
  if (row === null) throw new Error(`project ${project} has no response ${responseId}`);
  const id = note.id === undefined ? nextId(database, project) : reserveId(database, project, note.id);
  const shown: Note = { id: String(id), text: note.text, user_email: note.userEmail, created_at: note.createdAt };
  const notes = [...(JSON.parse(String(row.notes)) as Note[]), shown];
  const ids = [...(JSON.parse(String(row.ids)) as string[]), shown.id];
  database.run("UPDATE responses SET notes = ?, note_ids = ? WHERE project_id = ? AND id = ?", [
    JSON.stringify(notes),
    JSON.stringify(ids),
    project,
    responseId,
  ]);
  return id;
}

function findByToken(database: Database, token: string): Awaited<ReturnType<ResponseRows["byToken"]>> {
  const row = database.first(
    'SELECT p.id AS "projectId", p.name, r.id FROM responses r JOIN projects p ON p.id = r.project_id WHERE r.token = ?',
    [token],
  );
  return row === null ? null : { project: { id: Number(row.projectId), name: String(row.name) }, id: Number(row.id) };
}
