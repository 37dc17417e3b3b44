import { PEOPLE_ROWS } from "../../../bulk/import/check/kinds.ts";
import type { ImportRow, RowValues } from "../../../bulk/import/check/row-kind.ts";
import type { RowToSend } from "../../../bulk/import/journal/decide-rows.ts";
import type { RowOutcome } from "../../../bulk/import/journal/outcome.ts";
import type { Client, IntentOptions } from "../../../client/client.ts";
import { isRepeatablePerson } from "../../../client/write/write-methods.ts";
import type { JsonObject } from "../../../contract/json.ts";
import { CHANNELS, ROUTES } from "../../../contract/routes.ts";
import { UNKNOWN_REASON } from "../../../contract/text/survey-status.ts";
import { readDuration } from "../../../contract/text/duration.ts";
import { badValue, parseDuration } from "../../args/values.ts";
import { rejectConflict } from "../../args/flags.ts";
import { parseDelay } from "../../args/time.ts";
import { countOf, formatCount } from "../../../contract/text/whole-number.ts";
import { isLeftInOutbox } from "../../kit/write-outcome.ts";
import type { Deps } from "../../kit/deps.ts";
import { REPLACE_PROPERTIES_FLAG } from "../../kit/survey-properties.ts";
import { timeContext } from "../../kit/time-flags.ts";
import { FILE_ARG, IMPORT, IMPORT_EXITS, INCLUDE_SUPPRESSED_FLAG } from "../../importing/import-flags.ts";
import type { ImportRequest, SendOrder } from "../../importing/import-request.ts";
import {
  commonParts,
  createBreaker,
  createPauseCount,
  type RowSender,
  toPersonOutcome,
  toSettled,
  undoOf,
  WITH_BEFORE,
} from "../../importing/row-senders.ts";
import { defineCommand } from "../../kit/define-command.ts";
import { flagGroup, type GroupValue } from "../../kit/flag-spec.ts";

const SENDING = flagGroup({
  send: { text: "send surveys, except to rows with send=no; required if there is no terminal and no send column" },
  noSend: { text: "send no surveys; overrides a send column" },
  channel: { value: "channel", text: "channel for rows without one", choices: CHANNELS },
  delay: {
    value: "duration",
    text: "delay for rows without one, such as 3600, 1h or tomorrow",
    parse: (text, place, deps) => ({
      seconds: parseDelay(text, place, timeContext(deps)),
      isMoment: readDuration(text) === null,
    }),
  },
  spread: { value: "duration", text: "space the surveys evenly over this time", parse: parseDuration },
  sample: {
    value: "share",
    text: "send a random share of the rows, such as 10%; always the same ones for the same file",
    parse: parseShare,
  },
  skipSuppressed: { text: "skip people who bounced or unsubscribed" },
  includesSuppressed: INCLUDE_SUPPRESSED_FLAG,
  replaceProperties: REPLACE_PROPERTIES_FLAG,
});

type Sending = GroupValue<typeof SENDING>;

export const importPeople = defineCommand({
  name: "import",
  summary: "create or update people from a CSV file and schedule their surveys",
  args: { input: FILE_ARG },
  examples: [
    "surveyctl people import customers.csv --dry-run",
    "surveyctl people import customers.csv --send --spread 6h",
    'surveyctl people import export.csv --map "E-Mail Address=email" --no-send',
    "surveyctl people import customers.csv --send --resume",
  ],
  exits: IMPORT_EXITS,
  flags: { sending: SENDING, flags: IMPORT },
  run: async (deps, { input, sending, flags }) => {
    const { runImport } = await import("../../importing/run-import.ts");
    rejectConflict(deps.commandLine, "--send");
    return runImport(deps, { input, flags, ...toRequest(deps, sending) });
  },
});

function toRequest(deps: Deps, sending: Sending): Omit<ImportRequest, "input" | "flags"> {
  const { noSend, spread: spreadSeconds, replaceProperties, skipSuppressed, includesSuppressed, sample } = sending;
  const defaults = toDefaults(sending);
  const bodyOf = (row: ImportRow, order: SendOrder): JsonObject => ({
    ...toBody(row, spreadDelay(spreadSeconds, order)),
    ...(replaceProperties && { replace_properties: true }),
  });
  return {
    command: "people import",
    kind: PEOPLE_ROWS,
    defaults,
    choices: { ...delayUntil(deps, sending), ...(replaceProperties && { "--replace-properties": true }) },
    overrides: noSend ? { send: false } : {},
    consent: {
      isGiven: defaults["send"] !== undefined,
      column: "send",
      advice: "can email your customers: pass --send or --no-send, or add a send column",
    },
    question: (rows) => `Save ${countOf(rows, "person", "people")} without a survey?`,
    skipSuppressed,
    includesSuppressed,
    sample,
    spreadSeconds,
    plan: (row, order) => ({ route: ROUTES.sendPerson, body: bodyOf(row, order) }),
    createSender: (client, signal, rows) => {
      const bodyOfRow = (row: RowToSend): JsonObject => bodyOf(row, { position: row.position, rows });
      return createPeopleSender(client, signal, bodyOfRow, deps.options.timeZone);
    },
  };
}

function parseShare(text: string, place: string): number {
  const percent = Number(/^(\d{1,3}(?:\.\d+)?)\s*%$/.exec(text.trim())?.[1]);
  if (percent > 0 && percent <= 100) return percent / 100;
  throw badValue(place, text, "a share such as 10% or 2.5%");
}

/**
 * A delay until a fixed time shrinks as time passes, so the journal records that time, which stays the same when a run
 * is resumed.
 */
function delayUntil(deps: Deps, { delay }: Sending): JsonObject {
  if (delay?.isMoment !== true) return {};
  return { "--delay": new Date((timeContext(deps).now + delay.seconds) * 1000).toISOString() };
}

function toDefaults({ send, noSend, channel, delay }: Sending): RowValues {
  return {
    ...(send && { send: true }),
    ...(noSend && { send: false }),
    ...(channel !== null && { channel }),
    ...(delay !== null && { delay: delay.seconds }),
  };
}

function toBody({ values, properties }: ImportRow, spread = 0): JsonObject {
  const { send, delay, ...rest } = values;
  const seconds = (typeof delay === "number" ? delay : 0) + spread;
  return {
    ...rest,
    ...((seconds > 0 || delay !== undefined) && send !== false && { delay: seconds }),
    ...(Object.keys(properties).length > 0 && { properties }),
    ...(send === false && { send }),
  };
}

function spreadDelay(spreadSeconds: number | null, { position, rows }: SendOrder): number {
  return spreadSeconds === null ? 0 : Math.floor((spreadSeconds * position) / Math.max(1, rows));
}

function createPeopleSender(
  client: Client,
  signal: AbortSignal,
  bodyOf: (row: RowToSend) => JsonObject,
  zone: string | null,
): RowSender {
  const breaker = createBreaker();
  const seen = { leftInOutbox: 0, unexplained: 0 };
  const pauses = createPauseCount();
  const save = async (row: RowToSend, options: IntentOptions): Promise<RowOutcome> => {
    const body = bodyOf(row);
    const result = await client.sendPerson(body, { ...options, ...WITH_BEFORE });
    const outcome = toPersonOutcome(result, body["send"] !== false, zone);
    if (isLeftInOutbox(result)) seen.leftInOutbox += 1;
    pauses.take(result);
    if (outcome.error === UNKNOWN_REASON) seen.unexplained += 1;
    return { ...outcome, writes: undoOf(result, row.previousIntentAt !== null) };
  };
  return {
    ...commonParts(client),
    remarks: () => [
      ...(seen.unexplained === 0 ? [] : [`${countOf(seen.unexplained, "row")} ${UNKNOWN_REASON}`]),
      ...describeOutbox(seen.leftInOutbox),
      ...pauses.remarks(),
    ],
    isIdempotent: (row) => isRepeatablePerson(toBody(row)),
    neverRepeatUnknown: false,
    send: (row, onAccepted) => breaker.outcomeOf(row, save(row, { signal, intentAt: row.intentAt, onAccepted })),
    lookUp: async (row, time) => toSettled(await client.lookUpPerson(bodyOf(row), { signal, ...time })),
  };
}

function describeOutbox(surveys: number): string[] {
  if (surveys === 0) return [];
  const files = surveys === 1 ? "1 survey becomes a file" : `${formatCount(surveys)} surveys become files`;
  return [`${files} in outbox/: no mail server or gateway is set`];
}
