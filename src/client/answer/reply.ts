import type { HttpResponse } from "../../contract/http.ts";
import { isJsonObject, type Json, type JsonObject } from "../../contract/json.ts";
import { BODY_LIMIT, readBody, type Body, decodeBody, DecodeProblem } from "./body.ts";
import { BadReplyError, type BadReplyFacts, TimeoutError } from "../errors/call-errors.ts";
import type { CallName } from "../errors/client-error.ts";
import type { Redact } from "../trace/redact.ts";
import { readDate } from "../call/retry-policy.ts";
import { oneLine } from "./words.ts";

export interface AnswerText {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly text: string;
  /** Unix seconds of the `Date` header. */
  readonly serverTime: number | null;
}

interface Reading {
  readonly call: CallName;
  readonly redact: Redact;
}

export interface ReadingOptions extends Reading {
  readonly redactAnswer: Redact;
  readonly signal?: AbortSignal | undefined;
}

const PREVIEWED = 400;

export async function readAnswer(response: HttpResponse, options: ReadingOptions): Promise<AnswerText> {
  const body = await readBody(response, BODY_LIMIT, options.signal);
  const problem = problemOf(body);
  const start = Buffer.from(body.bytes.subarray(0, PREVIEWED)).toString("utf8");
  const { brokenBy } = body;
  if (problem !== null)
    throw badReply(problem, response, start, options, { cutShort: brokenBy !== null, cause: brokenBy ?? undefined });
  try {
    const text = await decodeBody(body.bytes, response.headers["content-encoding"], BODY_LIMIT);
    const date = readDate(response.headers);
    return {
      status: response.status,
      headers: response.headers,
      text: options.redactAnswer(text),
      serverTime: date === null ? null : Math.floor(date / 1000),
    };
  } catch (error) {
    if (error instanceof DecodeProblem) throw badReply(`the answer ${error.message}`, response, start, options);
    throw error;
  }
}

function problemOf(body: Body): string | null {
  const size = `${body.bytes.byteLength} ${body.bytes.byteLength === 1 ? "byte" : "bytes"}`;
  if (body.brokenBy instanceof TimeoutError) return `nothing more of the answer came in time after ${size}`;
  if (body.brokenBy !== null) return `the answer was cut short after ${size}`;
  return body.tooLarge ? `the answer is larger than ${BODY_LIMIT / 1024 / 1024} MiB` : null;
}

const PREVIEW_LENGTH = 60;

function badReply(
  problem: string,
  { status, headers }: Pick<AnswerText, "status" | "headers">,
  start: string,
  { call, redact }: Reading,
  more: Pick<BadReplyFacts, "cutShort" | "cause"> = {},
): BadReplyError {
  const contentType = oneLine(headers["content-type"] ?? "", 80);
  const preview = oneLine(redact(start), PREVIEW_LENGTH) ?? start.slice(0, 1).replace(/./s, " ");
  return new BadReplyError(problem, { call, status, contentType, preview, ...more });
}

/** Throws `BadReplyError` for an unexpected response. */
export type ReplyReader<T> = (answer: AnswerText, reading: Reading) => T;

export const readTextReply: ReplyReader<AnswerText> = (answer) => answer;

/** Reads one JSON object (sections 4.2, 4.4, 4.7, 4.9 to 4.11). */
export const readObjectReply: ReplyReader<AnswerText & { readonly json: JsonObject }> = (answer, reading) => {
  const json = parseJson(answer, reading);
  if (!isJsonObject(json)) throw unfit(`the answer is ${nameOf(json)} where an object was expected`, answer, reading);
  return { ...answer, json };
};

/** Checks that the object confirms the write, because some servers reply 200 with `{"error": …}`. */
export function readWritten(shows: (json: JsonObject) => boolean): typeof readObjectReply {
  return (answer, reading) => {
    const reply = readObjectReply(answer, reading);
    if (shows(reply.json)) return reply;
    throw unfit("the answer does not show what was written", answer, reading);
  };
}

/** Reads a JSON array of objects (sections 4.1, 4.3, 4.5, 4.6, 4.8). */
export const readListReply: ReplyReader<{ readonly rows: readonly JsonObject[]; readonly answer: AnswerText }> = (
  answer,
  reading,
) => {
  const json = parseJson(answer, reading);
  if (!Array.isArray(json)) throw unfit(`the answer is ${nameOf(json)} where a list was expected`, answer, reading);
  for (const row of json) {
    if (!isJsonObject(row)) throw unfit(`the list holds ${nameOf(row)} where objects were expected`, answer, reading);
  }
  return { rows: json as JsonObject[], answer };
};

function parseJson(answer: AnswerText, reading: Reading): Json {
  try {
    return JSON.parse(answer.text) as Json;
  } catch (error) {
    throw unfit(answer.text === "" ? "the answer is empty" : "the answer is not JSON", answer, reading, error);
  }
}

function unfit(problem: string, answer: AnswerText, reading: Reading, cause?: unknown): BadReplyError {
  // The parser's message quotes the body, which may contain the key.
  const kind = cause instanceof Error ? new Error(cause.name) : undefined;
  return badReply(problem, answer, answer.text.slice(0, PREVIEWED), reading, { cause: kind });
}

function nameOf(json: Json): string {
  if (json === null) return "null";
  if (Array.isArray(json)) return "a list";
  return typeof json === "object" ? "an object" : `a ${typeof json}`;
}
