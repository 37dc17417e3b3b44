import type { HttpRequest } from "../../contract/http.ts";
import { type AnswerText, readTextReply } from "../answer/reply.ts";
import type { Client } from "../client.ts";
import { mayHaveArrived, UnknownOutcomeError } from "../errors/call-errors.ts";
import type { Redact } from "../trace/redact.ts";
import type { Caller } from "./caller.ts";

/** Idempotent methods, RFC 9110. */
const REPEATABLE = new Set(["GET", "HEAD", "OPTIONS", "PUT", "DELETE"]);

/** Any call, with its answer unchanged except for the key. Throws if no answer came, and for a redirect. */
export async function callRaw(caller: Caller, request: HttpRequest): ReturnType<Client["raw"]> {
  const isRepeatable = REPEATABLE.has(request.method);
  const outcome = await caller.run(request, isRepeatable, readTextReply);
  if (outcome.kind === "answered") return { ...withoutKey(outcome.value, caller.redactAnswer), failure: null };
  const { answer, error } = outcome;
  if (answer !== null && answer.status >= 300 && answer.status < 400) throw error;
  // There is no look-up for raw writes.
  const failure = !isRepeatable && mayHaveArrived(error) ? new UnknownOutcomeError(error, null) : error;
  if (answer === null) throw failure;
  return { ...withoutKey(answer, caller.redactAnswer), failure };
}

function withoutKey({ text, headers, ...rest }: AnswerText, redactAnswer: Redact): AnswerText {
  const shown = Object.entries(headers).map(([name, value]) => [name, redactAnswer(value)]);
  return { ...rest, headers: Object.fromEntries(shown) as Record<string, string>, text: redactAnswer(text) };
}
