import type { Command } from "commander";
import { RESPONSE_ROWS } from "../../../bulk/import/check/kinds.ts";
import type { RowOutcome } from "../../../bulk/import/journal/outcome.ts";
import type { ImportRow } from "../../../bulk/import/check/row-kind.ts";
import type { Client, IntentOptions, WriteResult } from "../../../client/client.ts";
import type { Json, JsonObject } from "../../../contract/json.ts";
import { ROUTES } from "../../../contract/routes.ts";
import { FILE_OPERAND, IMPORT_EXITS, IMPORT_FLAGS, readImportFlags } from "../../import/import-flags.ts";
import { commonParts, createBreaker, type RowSender, toId, toSettled } from "../../import/row-senders.ts";
import { countOf } from "../../command/notes.ts";
import type { CommandContext } from "../../command/command-context.ts";

export function registerResponsesImport(noun: Command, context: CommandContext): void {
  const command = context.verb(noun, {
    name: "import",
    summary: "add responses collected elsewhere, from a CSV file; sends no surveys",
    operands: [FILE_OPERAND],
    examples: [
      "surveyctl responses import history.csv --dry-run",
      "surveyctl responses import history.csv --yes",
      "surveyctl responses import history.csv --yes --resume",
    ],
    exits: IMPORT_EXITS,
    flags: IMPORT_FLAGS,
  });
  context.action(command, async (deps, flags, [input = ""]) => {
    const { runImport } = await import("../../import/run-import.ts");
    return runImport(deps, {
      command: "responses import",
      fileName: "responses-import",
      input,
      kind: RESPONSE_ROWS,
      defaults: {},
      overrides: {},
      consentColumn: null,
      consented: true,
      guardAdvice: "",
      question: (rows) => `Add ${countOf(rows, "response", "responses")}?`,
      savedWord: "saved",
      flags: readImportFlags(flags),
      skipSuppressed: false,
      spreadSeconds: null,
      repeatDoesHarm: true,
      plan: (row) => ({
        route: ROUTES.addResponse,
        body: toResponseBody(row, knownId(row) ?? `<id of ${row.identifier}>`),
      }),
      createSender: createResponseSender,
    });
  });
}

/** `answers.ID` of an export is an answer, and no property. */
const ANSWER = /^answers\.(.+)$/;

function toResponseBody({ values, properties: given }: ImportRow, person: string): JsonObject {
  const { score, comment, created_at: createdAt, additional_answers: additional } = values;
  const entries = Object.entries(given);
  const properties = Object.fromEntries(entries.filter(([key]) => !ANSWER.test(key)));
  const answers = Object.fromEntries(
    entries.flatMap(([key, value]) => {
      const question = ANSWER.exec(key)?.[1];
      return question === undefined ? [] : [[question, value]];
    }),
  );
  const isAnswered = typeof additional === "string" && additional !== "[]";
  return {
    person,
    ...(score !== undefined && { score }),
    ...(comment !== undefined && { comment }),
    ...(createdAt !== undefined && { created_at: createdAt }),
    ...(Object.keys(properties).length > 0 && { person_properties: properties }),
    ...(isAnswered && { additional_answers: JSON.parse(additional) as Json }),
    ...(Object.keys(answers).length > 0 && { answers }),
  };
}

function createResponseSender(client: Client, signal: AbortSignal): RowSender {
  const breaker = createBreaker();
  return {
    ...commonParts(client),
    isIdempotent: () => false,
    neverRepeatUnknown: true,
    async send(row, onAccepted) {
      const attempt = { isSent: false };
      const options = { signal, intentAt: row.intentAt, onAccepted };
      const outcome = await breaker.outcomeOf(row, sendResponse(client, row, options, attempt));
      // The person's write alone leaves no response behind: the next run may send it without being told to.
      const { mayHaveArrived: _mayHaveArrived, ...unsent } = outcome;
      return attempt.isSent ? outcome : unsent;
    },
    lookUp: async (row, time) => {
      const person = await findOrCreate(client, row, signal);
      if (typeof person !== "string")
        return { kind: "unsettled", reason: person.error ?? "the person cannot be found" };
      const settlement = await client.lookUpResponse(toResponseBody(row, person), { signal, ...time });
      return toSettled(settlement, () => saved(person));
    },
  };
}

/** `attempt.isSent` is true once the response's own request may have left. */
async function sendResponse(
  client: Client,
  row: ImportRow,
  options: IntentOptions & { readonly signal: AbortSignal },
  attempt: { isSent: boolean },
): Promise<RowOutcome> {
  const person = await findOrCreate(client, row, options.signal);
  if (typeof person !== "string") return person;
  const body = toResponseBody(row, person);
  const stored = await findStored(client, body, options.signal);
  if (stored !== null) return { ...saved(person), outcome: "skipped", error: `stored already (response ${stored})` };
  attempt.isSent = true;
  return toResponseOutcome(await client.addResponse(body, options), person);
}

/** The id of a response with the same person, time, score and comment; null if there is none, or no time to tell. */
async function findStored(client: Client, body: JsonObject, signal: AbortSignal): Promise<string | null> {
  if (body["created_at"] === undefined) return null;
  const settlement = await client.lookUpResponse(body, { signal, intentAt: 0 });
  return settlement.kind === "arrived" ? toId(settlement.found["id"]) : null;
}

/** Null if the person has to be looked up. An address beats an id, which may come from another service. */
function knownId({ values }: ImportRow): string | null {
  const { person_id: id, email, phone_number: phone } = values;
  return typeof id === "string" && email === undefined && phone === undefined ? id : null;
}

/** The person's id; creates or finds the person with `send: false`, which is safe to repeat. */
async function findOrCreate(client: Client, row: ImportRow, signal: AbortSignal): Promise<string | RowOutcome> {
  const known = knownId(row);
  if (known !== null) return known;
  const { email, phone_number: phone, name } = row.values;
  const person = {
    ...(email !== undefined && { email }),
    ...(phone !== undefined && { phone_number: phone }),
    ...(name !== undefined && { name }),
  };
  const result = await client.sendPerson({ ...person, send: false }, { signal });
  const found = idOf(result);
  if (found !== null) return found;
  const reason = result.kind === "unknown" ? result.error.what : "the service returned no id";
  return {
    outcome: "failed",
    personId: null,
    surveyScheduledAt: null,
    error: `the person could not be saved: ${reason}`,
  };
}

function idOf(result: WriteResult): string | null {
  if (result.kind === "unknown") return null;
  return result.kind === "arrived" ? toId(result.found["id"]) : toId(result.reply.json["id"], result.reply.text);
}

function toResponseOutcome(result: WriteResult, person: string): RowOutcome {
  if (result.kind === "unknown")
    return { outcome: "unknown", personId: person, surveyScheduledAt: null, error: result.error.what };
  return saved(person);
}

function saved(personId: string): RowOutcome {
  return { outcome: "saved", personId, surveyScheduledAt: null, error: null };
}
