/**
 * The meaning of a service's refusal in the terms of a command: it knows what was asked for, the client only the
 * status.
 */
import { RefusedError } from "../../client/errors/call-errors.ts";
import { isJsonObject, type Json } from "../../contract/json.ts";

export interface Refusal {
  /** Answers with this status are meant… */
  readonly status: number;
  /** …and of those only the ones that complain about this attribute, where one is named. */
  readonly attribute?: string;
  /** …in these words of the service. */
  readonly says?: RegExp;
  /** …and that come as JSON: the page of a proxy, or of a wrong base URL, proves nothing. */
  readonly inJson?: boolean;
  readonly words: string;
  readonly hint: string;
}

/**
 * Runs `work`; a refusal takes the words of the first entry that fits and keeps the call, the status and the details.
 */
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
  return attribute === undefined || complaintsOf(error.details).includes(attribute);
}

/** The attributes of `{"errors": {"trend": ["does not exist"]}}`. */
function complaintsOf(details: Json): readonly string[] {
  const errors = isJsonObject(details) ? (details["errors"] ?? null) : null;
  return isJsonObject(errors) ? Object.keys(errors) : [];
}

/** Null if the service refuses the request, as one does that lacks an endpoint or a parameter. */
export async function nullIfRefused<Value>(work: Promise<Value>): Promise<Value | null> {
  try {
    return await work;
  } catch (error) {
    if (error instanceof RefusedError) return null;
    throw error;
  }
}

interface Explanation {
  readonly words: string;
  readonly hint: string;
}

/** A service that lacks an endpoint answers 405, 410 or 404; a 404 may also mean that `missing` isn't there. */
export function unsupported(lacking: Explanation, missing: Explanation): readonly Refusal[] {
  return [
    { status: 404, ...missing },
    { status: 405, ...lacking },
    { status: 410, ...lacking },
  ];
}

export function noTrend(trend: string | null): readonly Refusal[] {
  const hint = "the service's own pages, or surveyctl service trend list on its machine, show the ids of trends";
  return trend === null ? [] : [{ status: 422, attribute: "trend", words: `no trend ${trend}`, hint }];
}

/** `attribute` is the name under which the call sends the id. */
export function noPersonWithId(id: string | null, attribute: string): readonly Refusal[] {
  const hint = "surveyctl people list shows the ids";
  return id === null ? [] : [{ status: 422, attribute, words: `no person with id ${id}`, hint }];
}
