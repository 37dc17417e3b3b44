/** Rewords refusals, because the client doesn't know what the command was for. */
import { RefusedError } from "../../client/errors/call-errors.ts";
import type { ClientError } from "../../client/errors/client-error.ts";
import { isJsonObject, type Json } from "../../contract/json.ts";

export interface Refusal {
  readonly status: number;
  readonly attribute?: string;
  readonly says?: RegExp;
  /** True to match only replies with a JSON body, because a proxy's error page says nothing about the service. */
  readonly inJson?: boolean;
  readonly words: string;
  readonly hint: string;
}

export async function withRefusals<Result>(work: Promise<Result>, refusals: readonly Refusal[]): Promise<Result> {
  try {
    return await work;
  } catch (error) {
    const refusal = error instanceof RefusedError ? refusals.find((each) => fits(each, error)) : undefined;
    if (refusal === undefined || !(error instanceof RefusedError)) throw error;
    const { call, status, details } = error;
    throw new RefusedError(refusal.words, { call, status: status ?? refusal.status, details }).advise(refusal.hint);
  }
}

function fits({ status, attribute, says, inJson }: Refusal, error: RefusedError): boolean {
  if (inJson === true && !isJsonObject(error.details)) return false;
  if (error.status !== status || says?.test(error.what) === false) return false;
  return attribute === undefined || complaintsAbout(attribute, error.details).length > 0;
}

/** `does not exist` for `trend` in `{"errors": {"trend": ["does not exist"]}}`. */
export function complaintsAbout(attribute: string, details: Json): readonly string[] {
  const errors = isJsonObject(details) ? (details["errors"] ?? null) : null;
  const phrases = isJsonObject(errors) ? (errors[attribute] ?? []) : [];
  return Array.isArray(phrases) ? phrases.map(String) : [JSON.stringify(phrases)];
}

/** Null if the service refuses, as it does if it lacks the endpoint. */
export async function nullIfRefused<Value>(work: Promise<Value>): Promise<Value | null> {
  try {
    return await work;
  } catch (error) {
    if (error instanceof RefusedError) return null;
    throw error;
  }
}

/** For optional requests, which must not fail the command. */
export async function nullIfFailed<Value>(work: Promise<Value> | undefined): Promise<Value | null> {
  try {
    return (await work) ?? null;
  } catch {
    return null;
  }
}

type Explanation = Pick<Refusal, "words" | "hint">;

/** Statuses that mean a missing endpoint. A 404 isn't one of them, because it can also mean a missing object. */
const LACKING = [405, 410];

export function lacksEndpoint({ status }: ClientError): boolean {
  return status !== null && LACKING.includes(status);
}

export function unsupported(lacking: Explanation, missing: Explanation): readonly Refusal[] {
  return [{ status: 404, ...missing }, ...LACKING.map((status) => ({ status, ...lacking }))];
}

export function noTrend(trend: string | null): readonly Refusal[] {
  const hint = "the service's own pages, or surveyctl service trend list on its machine, show the ids of trends";
  return trend === null ? [] : [{ status: 422, attribute: "trend", words: `no trend ${trend}`, hint }];
}

export function noPersonWithId(id: string | null, attribute: string): readonly Refusal[] {
  const hint = "surveyctl people list shows the ids";
  return id === null ? [] : [{ status: 422, attribute, words: `no person with id ${id}`, hint }];
}
