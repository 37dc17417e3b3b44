/** Tags, notes and answers from a warehouse's own tables, joined to responses by id. */
import { type Json, type JsonObject, parseJson, plainText } from "../../contract/json.ts";
import { readMoment } from "../../runtime/calendar/read-moment.ts";
import type { PastNote, PastResponse } from "../domain/history/rows.ts";
import type { HistoryField, PartStream } from "./columns.ts";
import { checkStorableValue, PastRowError, readComment, readTags, toNote } from "./convert-rows.ts";

/** Kept in memory, because these tables are small compared with the responses. */
export interface ResponseParts {
  add(stream: PartStream, fields: ReadonlyMap<HistoryField, Json>): void;
  complete(response: PastResponse): PastResponse;
}

type Fields = ReadonlyMap<HistoryField, Json>;

export function createResponseParts(zone: string | null): ResponseParts {
  const readTime = (value: Json | undefined): number | null => readMoment(plainText(value).trim(), zone);
  const tags = new Map<number, string[]>();
  const notes = new Map<number, PastNote[]>();
  const answers = new Map<number, Fields[]>();
  const questions = new Map<string, Fields>();
  const comments = new Map<number, Fields>();
  const timeOf = (fields: Fields): number => readTime(fields.get("created_at")) ?? 0;
  const newest = (one: Fields, other: Fields): Fields => (timeOf(other) >= timeOf(one) ? other : one);
  const adders: Readonly<Record<PartStream, (fields: Fields) => void>> = {
    tags: (fields) => put(tags, fields, ...(readTags(fields.get("tags") ?? fields.get("tag")) ?? [])),
    notes: (fields) => put(notes, fields, toNote(Object.fromEntries(fields), 0, readTime)),
    answers: (fields) => {
      const known = answers.get(responseId(fields)) ?? [];
      const earlier = known.findIndex((each) => answerKey(each) === answerKey(fields));
      if (earlier === -1) put(answers, fields, fields);
      else known[earlier] = newest(known[earlier] ?? fields, fields);
    },
    comments: (fields) => {
      const id = responseId(fields);
      readComment(fields.get("comment"));
      comments.set(id, newest(comments.get(id) ?? fields, fields));
    },
    questions: (fields) => void questions.set(plainText(fields.get("id")), fields),
  };
  return {
    add(stream, fields) {
      for (const [name, value] of fields) checkStorableValue(value, name);
      adders[stream](fields);
    },
    complete(response) {
      const { id } = response;
      if (id === null) return response;
      const own = {
        tags: tags.size === 0 ? null : (tags.get(id) ?? []),
        notes: notes.size === 0 ? null : (notes.get(id) ?? []),
        additionalAnswers:
          answers.size === 0 ? null : (answers.get(id) ?? []).map((fields) => toAnswer(fields, questions)),
      };
      const comment = plainText(comments.get(id)?.get("comment"));
      return {
        ...response,
        comment: response.comment ?? (comment === "" ? null : comment),
        tags: response.tags ?? own.tags,
        notes: response.notes ?? own.notes,
        additionalAnswers: response.additionalAnswers ?? own.additionalAnswers,
      };
    },
  };
}

function put<Part>(parts: Map<number, Part[]>, fields: Fields, ...added: readonly Part[]): void {
  const id = responseId(fields);
  const known = parts.get(id);
  if (known === undefined) parts.set(id, [...added]);
  else known.push(...added);
}

function responseId(fields: Fields): number {
  const id = Number(fields.get("response_id"));
  if (!Number.isSafeInteger(id) || id <= 0) throw new PastRowError("response_id is not a whole number");
  return id;
}

/** Segment's rows have no id, so they are identified by their question. */
function answerKey(fields: Fields): string {
  return plainText(fields.get("id") ?? fields.get("question_id"));
}

function toAnswer(fields: Fields, questions: ReadonlyMap<string, Fields>): JsonObject {
  const questionId = plainText(fields.get("question_id"));
  const question = questions.get(questionId);
  const value = (name: HistoryField): Json => fields.get(name) ?? null;
  return {
    id: answerKey(fields),
    value: {
      free_response: value("free_response"),
      scale: value("scale") === null ? null : Number(value("scale")),
      select_one: parsedChoice(value("select_one")),
      select_many: parsedChoice(value("select_many")),
    },
    question: {
      id: questionId,
      type: question?.get("type") ?? "free_response",
      text: question?.get("text") ?? fields.get("text") ?? "",
    },
  };
}

/** A cell can contain the chosen option as JSON. */
function parsedChoice(value: Json): Json {
  if (typeof value !== "string") return value;
  const json = parseJson(value);
  return json === undefined ? { id: "", text: value } : json;
}
