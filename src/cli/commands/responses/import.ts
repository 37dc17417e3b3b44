import { RESPONSE_ROWS } from "../../../bulk/import/check/kinds.ts";
import type { RowOutcome } from "../../../bulk/import/journal/outcome.ts";
import type { ImportRow } from "../../../bulk/import/check/row-kind.ts";
import type { Client, IntentOptions } from "../../../client/client.ts";
import type { Json, JsonObject } from "../../../contract/json.ts";
import { ROUTES } from "../../../contract/routes.ts";
import { countOf } from "../../../contract/text/whole-number.ts";
import { FILE_ARG, IMPORT, IMPORT_EXITS } from "../../importing/import-flags.ts";
import {
  commonParts,
  createBreaker,
  type RowSender,
  toId,
  toOutcome,
  toSettled,
  undoOf,
  WITH_BEFORE,
} from "../../importing/row-senders.ts";
import { toBody } from "../../kit/write-outcome.ts";
import { defineCommand } from "../../kit/define-command.ts";

export const importFile = defineCommand({
  name: "import",
  summary: "add responses collected elsewhere, from a CSV file; sends no surveys",
  examples: [
    "surveyctl responses import history.csv --dry-run",
    "surveyctl responses import history.csv --yes",
    "surveyctl responses import history.csv --yes --resume",
  ],
  args: { input: FILE_ARG },
  flags: { flags: IMPORT },
  exits: IMPORT_EXITS,
  async run(deps, { input, flags }) {
    const { runImport } = await import("../../importing/run-import.ts");
    return runImport(deps, {
      command: "responses import",
      input,
      kind: RESPONSE_ROWS,
      question: (rows) => `Add ${countOf(rows, "response")}?`,
      flags,
      plan: (row) => ({
        route: ROUTES.addResponse,
        body: toResponseBody(row, knownId(row) ?? `<id of ${row.identifier}>`),
      }),
      createSender: createResponseSender,
    });
  },
});

const ANSWER = /^answers\.(?=.)/;

function toResponseBody({ values, properties: given }: ImportRow, person: string): JsonObject {
  const { score, comment, created_at: createdAt, additional_answers: additional } = values;
  const entries = Object.entries(given);
  const properties = Object.fromEntries(entries.filter(([key]) => !ANSWER.test(key)));
  const answers = Object.fromEntries(
    entries.filter(([key]) => ANSWER.test(key)).map(([key, value]) => [key.replace(ANSWER, ""), value]),
  );
  const isAnswered = typeof additional === "string" && additional !== "[]";
  return toBody({
    person,
    score,
    comment,
    created_at: createdAt,
    person_properties: Object.keys(properties).length > 0 ? properties : null,
    additional_answers: isAnswered ? (JSON.parse(additional) as Json) : null,
    answers: Object.keys(answers).length > 0 ? answers : null,
  });
}

function createResponseSender(client: Client, signal: AbortSignal): RowSender {
  const breaker = createBreaker();
  return {
    ...commonParts(client),
    isIdempotent: () => false,
    neverRepeatUnknown: true,
    async send(row, onAccepted) {
      const attempt: Attempt = { isSent: false, wasSent: row.previousIntentAt !== null };
      const options = { signal, intentAt: row.intentAt, onAccepted };
      const outcome = await breaker.outcomeOf(row, sendResponse(client, row, options, attempt));
      // If only the person was saved, the response wasn't sent, so the next run can safely send the row.
      const { mayHaveArrived: _mayHaveArrived, ...unsent } = outcome;
      const { writes, personId = null } = attempt;
      return { ...(attempt.isSent ? outcome : unsent), writes, personId: outcome.personId ?? personId };
    },
    lookUp: async (row, time) => {
      const person = await findOrCreate(client, row, signal, { isSent: false, wasSent: true });
      if (typeof person !== "string")
        return { kind: "unsettled", reason: person.error ?? "the person cannot be found" };
      const settlement = await client.lookUpResponse(toResponseBody(row, person), { signal, ...time });
      return toSettled(settlement, () => toOutcome("saved", { personId: person }));
    },
  };
}

interface Attempt {
  isSent: boolean;
  readonly wasSent: boolean;
  /** What the attempt wrote about the person, which is kept even if the response is refused. */
  writes?: RowOutcome["writes"];
  personId?: string;
}

async function sendResponse(
  client: Client,
  row: ImportRow,
  options: IntentOptions & { readonly signal: AbortSignal },
  attempt: Attempt,
): Promise<RowOutcome> {
  const person = await findOrCreate(client, row, options.signal, attempt);
  if (typeof person !== "string") return person;
  const body = toResponseBody(row, person);
  const stored = await findStored(client, body, options.signal);
  if (stored !== null) return toOutcome("skipped", { personId: person, error: `stored already (response ${stored})` });
  attempt.isSent = true;
  const result = await client.addResponse(body, options);
  if (result.kind === "unknown") return toOutcome("unknown", { personId: person, error: result.error.what });
  if (result.kind === "answered") {
    const { id, updated_at: updatedAt } = result.reply.json;
    attempt.writes = [
      ...(attempt.writes ?? []),
      { response: toId(id, result.reply.text), updated_at: updatedAt ?? null },
    ];
  }
  return toOutcome("saved", { personId: person });
}

/** Returns the id of a stored response with the same person, time, score and comment. Null if the row has no time. */
async function findStored(client: Client, body: JsonObject, signal: AbortSignal): Promise<string | null> {
  if (body["created_at"] === undefined) return null;
  const settlement = await client.lookUpResponse(body, { signal, intentAt: 0 });
  return settlement.kind === "arrived" ? toId(settlement.found["id"]) : null;
}

/** Null if the row has an address, because its id may come from another service. */
function knownId({ values }: ImportRow): string | null {
  const { person_id: id, email, phone_number: phone } = values;
  return typeof id === "string" && email === undefined && phone === undefined ? id : null;
}

/** Returns the person's id. Finds or creates the person with `send: false`, which is safe to repeat. */
async function findOrCreate(
  client: Client,
  row: ImportRow,
  signal: AbortSignal,
  attempt: Attempt,
): Promise<string | RowOutcome> {
  const known = knownId(row);
  if (known !== null) return known;
  const { email, phone_number: phone, name } = row.values;
  const body = toBody({ email, phone_number: phone, name, send: false });
  const result = await client.sendPerson(body, { signal, ...WITH_BEFORE });
  attempt.writes = undoOf(result, attempt.wasSent);
  const found =
    result.kind === "unknown"
      ? null
      : result.kind === "arrived"
        ? toId(result.found["id"])
        : toId(result.reply.json["id"], result.reply.text);
  if (found !== null) {
    if (attempt.writes !== undefined) attempt.personId = found;
    return found;
  }
  const reason = result.kind === "unknown" ? result.error.what : "the service returned no id";
  return toOutcome("failed", { error: `the person could not be saved: ${reason}` });
}
