import { isJsonObject, type Json, type JsonObject } from "../../../../contract/json.ts";
import { PLATFORMS } from "../../../../contract/resources.ts";
import { createWallClock } from "../../../../runtime/zone.ts";
import { type Deps, withClient } from "../../../kit/deps.ts";
import { defineCommand } from "../../../kit/define-command.ts";
import { type Column, pathColumn, type Resource, toResource } from "../../../render/columns.ts";
import { isPage, writeList } from "../../../render/list-output.ts";
import { asRecord, writeRecord } from "../../../render/record-output.ts";
import { ONE_PERSON, RESPONSES } from "../../../render/resources.ts";
import { PERSON_OR_ID_ARG } from "../get.ts";
import { explainNext } from "./explain-next.ts";
import { type KnownPerson, readPersonPage } from "./look-up.ts";

const HEAD: readonly Column[] = [
  ...ONE_PERSON.columns,
  pathColumn("unsubscribed_at"),
  pathColumn("bounced_at"),
  pathColumn("texts_stopped_at"),
];
const LISTS = ["explanation", "autopilot", "surveys", "responses", "resubscriptions"];

const COLUMNS = [...HEAD, ...LISTS.map((name) => pathColumn(name))];
const SURVEY_STATUS = ["survey_status", "survey_status_since", "survey_status_until"];

const SHOWN: Resource = {
  ...ONE_PERSON,
  columns: COLUMNS,
  json: [[...COLUMNS, ...SURVEY_STATUS.map((name) => pathColumn(name, name === "survey_status" ? "text" : "time"))]],
};

const SURVEYS = toResource(
  "surveys",
  {
    id: "id",
    channel: "text",
    state: "text",
    scheduled_at: "time",
    sent_at: "time",
    answered: "flag",
    reason: "text",
  },
  ["reason", "answered", "sent_at", "scheduled_at", "state", "channel"],
);
const MEMBERSHIPS = toResource(
  "memberships",
  { platform: "text", created_at: "time", survey_scheduled_at: "time", properties: "text" },
  ["properties", "survey_scheduled_at", "created_at"],
);
const RESUBSCRIPTIONS = toResource("resubscriptions", { created_at: "time", note: "text" }, ["note"]);

export const show = defineCommand({
  name: "show",
  summary: "show everything about one person, and why they will or will not be surveyed next",
  args: { person: PERSON_OR_ID_ARG },
  examples: ["surveyctl people show ada@example.com", "surveyctl people show 42 --json"],
  columns: SHOWN,
  run: async (deps, { person }) => {
    const known = await withClient(deps, (client) => readPersonPage(client, person, deps.signal));
    return isPage(deps) ? writePage(deps, known) : writeRecord(deps, SHOWN, asRecord(toJson(deps, known)));
  },
});

function toJson(deps: Deps, known: KnownPerson): JsonObject {
  const { person, autopilot, responses } = known;
  return { ...person, explanation: explainOf(deps, known), autopilot: { ...autopilot }, responses: [...responses] };
}

function explainOf({ options }: Deps, known: KnownPerson): string {
  return explainNext(known, createWallClock(options.timeZone));
}

async function writePage(deps: Deps, known: KnownPerson): Promise<void> {
  const { person, autopilot, responses } = known;
  const { surveys, resubscriptions, ...fields } = person;
  const head = HEAD.filter(
    (column) => column.name in fields && (ONE_PERSON.columns.includes(column) || fields[column.name] !== null),
  );
  const record = { ...ONE_PERSON, columns: head, fields: Object.keys(fields) };
  await writeRecord(deps, record, asRecord(fields));
  await deps.streams.out.write(`\n${explainOf(deps, known)}\n`);
  const members = PLATFORMS.flatMap((platform) => toMembership(platform, autopilot[platform]));
  await writeTable(deps, "Autopilot", MEMBERSHIPS, members);
  await writeTable(deps, "Surveys, newest first", SURVEYS, rowsOf(surveys).map(withoutEarlyAnswer));
  await writeTable(deps, "Responses, newest first", RESPONSES, responses);
  await writeTable(deps, "Resubscribed", RESUBSCRIPTIONS, rowsOf(resubscriptions));
}

function toMembership(platform: string, member: JsonObject | null): JsonObject[] {
  if (member === null) return [];
  const next = isJsonObject(member["next_survey_request"]) ? member["next_survey_request"] : {};
  const { survey_scheduled_at = null, properties = null } = next;
  return [{ platform, created_at: member["created_at"] ?? null, survey_scheduled_at, properties }];
}

function withoutEarlyAnswer(survey: JsonObject): JsonObject {
  return survey["sent_at"] === null ? { ...survey, answered: null } : survey;
}

function rowsOf(list: Json | undefined): readonly JsonObject[] {
  return Array.isArray(list) ? list.filter(isJsonObject) : [];
}

async function writeTable(deps: Deps, heading: string, resource: Resource, rows: readonly JsonObject[]): Promise<void> {
  if (rows.length === 0) return;
  await deps.streams.out.write(`\n${heading}:\n\n`);
  await writeList(deps, { resource, wrap: true }, rows);
}
