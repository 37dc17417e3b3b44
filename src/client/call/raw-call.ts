import type { HttpRequest } from "../../contract/http.ts";
import type { RequestCaller } from "./caller.ts";
import type { Client } from "../client.ts";
import { mayHaveArrived } from "../errors/may-have-arrived.ts";
import { UnknownOutcomeError } from "../errors/unknown-outcome-error.ts";
import type { Redact } from "../trace/redact.ts";
import { readTextReply, type AnswerText } from "../answer/reply.ts";

/** Methods that HTTP itself calls idempotent. */
const REPEATABLE = new Set(["GET", "HEAD", "OPTIONS", "PUT", "DELETE"]);

/** Any call, its answer as it came but for the key. Throws when no answer came, and for a redirect. */
export async function callRaw(
  caller: RequestCaller,
  request: HttpRequest,
  redactAnswer: Redact,
): ReturnType<Client["raw"]> {
  const outcome = await caller.run(request, REPEATABLE.has(request.method), readTextReply);
  if (outcome.kind === "answered") return { ...withoutKey(outcome.value, redactAnswer), failure: null };
  const { answer, error } = outcome;
  if (answer !== null && answer.status >= 300 && answer.status < 400) throw error;
  // What a raw write does is not known here: there is nothing to look at.
  const isUnknown = !REPEATABLE.has(request.method) && mayHaveArrived(error);
  const failure = isUnknown ? new UnknownOutcomeError(error, null) : error;
  if (answer === null) throw failure;
  return { ...withoutKey(answer, redactAnswer), failure };
}

function withoutKey({ text, headers, ...rest }: AnswerText, redactAnswer: Redact): AnswerText {
  const shown = Object.entries(headers).map(([name, value]) => [name, redactAnswer(value)]);
  return { ...rest, headers: Object.fromEntries(shown) as Record<string, string>, text: redactAnswer(text) };
}
