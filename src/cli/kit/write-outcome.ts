import type { WriteResult } from "../../client/client.ts";
import { mayHaveArrived, RefusedError, UnknownOutcomeError } from "../../client/errors/call-errors.ts";
import type { Deps } from "./deps.ts";
import { InterruptedError } from "../errors/command-errors.ts";
import { EXIT, type ExitCode } from "../exit-codes.ts";
import type { Resource } from "../render/columns.ts";
import { writeRecord } from "../render/record-output.ts";
import { writeText } from "../render/safe-text.ts";
import { writeNote } from "./notes.ts";
import type { Json, JsonObject } from "../../contract/json.ts";
import { parseSurveyStatus, SURVEY_STATUS_HEADER, type SurveyStatus } from "../../contract/text/survey-status.ts";
import { UNCHANGED } from "../../contract/http.ts";
import { LEFT_IN_OUTBOX, type Route, routePath } from "../../contract/routes.ts";

/** If the write may have arrived, throws UnknownOutcomeError with `evidence` as advice, or InterruptedError. */
export async function showOutcome(
  deps: Deps,
  write: Promise<WriteResult>,
  { answer, found, evidence }: { readonly answer: Resource; readonly found: Resource; readonly evidence: string },
): Promise<ExitCode> {
  const result = await write.catch((error: unknown) => {
    if (error instanceof InterruptedError)
      throw new InterruptedError(error.signal, `the request may have been processed: ${evidence}`);
    // All attempts failed, but any of them may have arrived.
    throw mayHaveArrived(error) ? new UnknownOutcomeError(error, null).advise(evidence) : error;
  });
  if (result.kind === "unknown") throw result.error.advise(evidence);
  if (result.kind === "answered") {
    await writeRecord(deps, answer, result.reply);
    return EXIT.done;
  }
  await writeRecord(deps, found, { json: result.found, text: JSON.stringify(result.found) });
  await writeNote(deps, `the answer was lost, but the request arrived: ${result.evidence}`);
  return EXIT.done;
}

/** For changes that are safe to repeat. False if our own server reports that nothing changed. */
export async function settleChange(
  change: Promise<WriteResult>,
  { again, explain }: { readonly again: string; readonly explain: (error: RefusedError) => Promise<Error> },
): Promise<boolean> {
  const result = await change.catch(async (error: unknown) => {
    if (mayHaveArrived(error)) throw new UnknownOutcomeError(error, null).advise(again);
    throw error instanceof RefusedError ? await explain(error) : error;
  });
  if (result.kind === "unknown") throw result.error.advise(again);
  // An earlier attempt whose response was lost may have made the change.
  const mayHaveChanged = result.kind === "answered" && result.lostBefore;
  return mayHaveChanged || !hasHeader(result, UNCHANGED);
}

export function isLeftInOutbox(result: WriteResult): boolean {
  return hasHeader(result, LEFT_IN_OUTBOX);
}

function hasHeader(result: WriteResult, header: Readonly<Record<string, string>>): boolean {
  const [[name, value] = ["", ""]] = Object.entries(header);
  return result.kind === "answered" && result.reply.headers[name] === value;
}

/** Why our own server won't send the requested survey; null if it doesn't say. */
export function surveyStatusOf(result: WriteResult): SurveyStatus | null {
  const text = result.kind === "answered" ? result.reply.headers[SURVEY_STATUS_HEADER] : undefined;
  return text === undefined ? null : parseSurveyStatus(text);
}

export function toBody(fields: Readonly<Record<string, Json | undefined>>): JsonObject {
  return Object.fromEntries(
    Object.entries(fields).filter((entry): entry is [string, Json] => entry[1] !== null && entry[1] !== undefined),
  );
}

export interface PlannedRequest {
  readonly route: Route;
  readonly placeholders?: Readonly<Record<string, string>>;
  readonly body?: JsonObject;
}

export function toDryRunLine(baseUrl: string, { route, placeholders, body }: PlannedRequest): string {
  const url = `${baseUrl.replace(/\/+$/, "")}${routePath(route, placeholders)}`;
  return `${JSON.stringify({ method: route.method, url, body: body ?? null })}\n`;
}

export async function writeDryRun({ streams }: Deps, baseUrl: string, request: PlannedRequest): Promise<void> {
  await writeText(streams.out, toDryRunLine(baseUrl, request));
}
