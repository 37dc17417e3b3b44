import { memberRows } from "../../../bulk/import/check/kinds.ts";
import type { RowToSend } from "../../../bulk/import/journal/decide-rows.ts";
import type { RowOutcome } from "../../../bulk/import/journal/outcome.ts";
import type { ImportRow } from "../../../bulk/import/check/row-kind.ts";
import type { Client, WriteResult } from "../../../client/client.ts";
import { isJsonObject, type JsonObject } from "../../../contract/json.ts";
import type { Platform } from "../../../contract/resources.ts";
import { ROUTES } from "../../../contract/routes.ts";
import { FILE_ARG, IMPORT, IMPORT_EXITS, INCLUDE_SUPPRESSED_FLAG } from "../../importing/import-flags.ts";
import {
  commonParts,
  createBreaker,
  createPauseCount,
  notScheduled,
  type RowSender,
  toId,
  toOutcome,
  toSettled,
  undoOf,
  WITH_BEFORE,
} from "../../importing/row-senders.ts";
import { countOf } from "../../../contract/text/whole-number.ts";
import { toBody } from "../../kit/write-outcome.ts";
import { defineCommand } from "../../kit/define-command.ts";
import { PLATFORM } from "./member-identifiers.ts";
import { describeJoining } from "./survey-dates.ts";

export const importMembers = defineCommand({
  name: "import",
  summary: "add or update members from a CSV file; each receives recurring surveys",
  args: { input: FILE_ARG },
  examples: [
    "surveyctl autopilot import members.csv --dry-run",
    "surveyctl autopilot import members.csv --send --platform email",
  ],
  exits: IMPORT_EXITS,
  flags: {
    platform: PLATFORM,
    send: { text: "allow surveys to be sent; required without a terminal" },
    includesSuppressed: INCLUDE_SUPPRESSED_FLAG,
    flags: IMPORT,
  },
  run: async (deps, { input, platform, send, includesSuppressed, flags }) => {
    const { runImport } = await import("../../importing/run-import.ts");
    const zone = deps.options.timeZone;
    return runImport(deps, {
      command: `autopilot import --platform ${platform}`,
      input,
      kind: memberRows(platform),
      consent: { isGiven: send, advice: "sends every member surveys: pass --send" },
      question: (rows) => `Add ${countOf(rows, "person", "people")} to Autopilot (${platform})?`,
      forecast: (client, count) => describeJoining(client, { platform, count, zone, signal: deps.signal }),
      flags,
      includesSuppressed,
      plan: (row) => ({ route: ROUTES.addMember, placeholders: { platform }, body: toMemberBody(row) }),
      createSender: (client, signal) => createMemberSender(client, signal, platform, zone),
    });
  },
});

function createMemberSender(client: Client, signal: AbortSignal, platform: Platform, zone: string | null): RowSender {
  const breaker = createBreaker();
  const pauses = createPauseCount();
  const add = async (row: RowToSend): Promise<RowOutcome> => {
    const result = await client.addMember(platform, toMemberBody(row), { signal, ...WITH_BEFORE });
    pauses.take(result);
    const writes = undoOf(result, row.previousIntentAt !== null);
    return { ...toMemberOutcome(result, "scheduled"), ...notScheduled(result, zone), writes };
  };
  return { ...memberParts(client), remarks: pauses.remarks, send: (row) => breaker.outcomeOf(row, add(row)) };
}

function toMemberBody({ values, properties }: ImportRow): JsonObject {
  const { person_id: id, email, phone_number: phone, name } = values;
  return toBody({
    person_id: id,
    person_email: email,
    person_phone_number: phone,
    person_name: name,
    properties: Object.keys(properties).length > 0 ? properties : null,
  });
}

export function toMemberOutcome(result: WriteResult, done: RowOutcome["outcome"]): RowOutcome {
  if (result.kind === "unknown") return toOutcome("unknown", { error: result.error.what });
  const [answer, text] = result.kind === "arrived" ? [result.found, ""] : [result.reply.json, result.reply.text];
  const { person } = answer;
  return toOutcome(done, { personId: toId(isJsonObject(person) ? person["id"] : undefined, text) });
}

/** Adding and removing are idempotent (section 3), so rows with an unknown outcome are simply sent again. */
export function memberParts(client: Client): Omit<RowSender, "send"> {
  return {
    ...commonParts(client),
    isIdempotent: () => true,
    neverRepeatUnknown: false,
    lookUp: async () => toSettled({ kind: "absent", evidence: "a repeat changes nothing more" }),
  };
}
