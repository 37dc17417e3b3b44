/** One history, saved in different export formats. Each is a set of files by name. */
import { stringify } from "csv-stringify/sync";
import type { Json, JsonObject } from "../../src/contract/json.ts";
import { seededRandom } from "./seeded-random.ts";

export interface PastTruth {
  readonly people: readonly JsonObject[];
  readonly responses: readonly JsonObject[];
  readonly unsubscribes: readonly JsonObject[];
  readonly bounces: readonly JsonObject[];
}

const FIRST = 1_600_000_000;

/** Rows as the API returns them. Properties are text, because warehouse tables keep nothing else. */
export function createPast(count: number): PastTruth {
  const random = seededRandom(7);
  const pick = <Value>(values: readonly Value[]): Value => values[Math.floor(random() * values.length)] as Value;
  const people = Array.from({ length: count }, (_, at) => ({
    id: String(300_000 + at * 3),
    email: at % 11 === 0 ? null : `Ada.${at}@example.com`,
    name: at % 5 === 0 ? null : `Zoë "${at}", O’Neil`,
    created_at: FIRST + at * 60,
    phone_number: at % 11 === 0 ? `+1415555${String(at).padStart(4, "0")}` : null,
    last_sent_at: at % 4 === 0 ? null : FIRST + at * 60 + 3600,
  }));
  const responses = Array.from({ length: 3 * count }, (_, at) => {
    const isNps = at % 10 !== 7;
    const created = FIRST + 100_000 + at * 4000;
    return {
      id: String(900_000 + at * 2),
      person: pick(people).id,
      survey_type: isNps ? "nps" : pick(["csat", "ces"]),
      score: isNps ? Math.floor(random() * 11) : Math.floor(random() * 5) + 1,
      comment: at % 3 === 0 ? null : `Line one, "${at}"\nline two 👍🏽 =SUM(A1)`,
      permalink: `https://closed.example/r/${at}`,
      created_at: created,
      updated_at: at % 6 === 0 ? created + 500 : created,
      person_properties: { plan: pick(["pro", "free"]), delighted_source: "email" },
      notes:
        at % 9 === 0
          ? [{ id: String(5_000_000 + at), text: `Called, "${at}"`, user_email: "bo@example.com", created_at: created }]
          : [],
      tags: at % 4 === 0 ? ["vip", "a, b"] : at % 4 === 1 ? ["new"] : [],
      additional_answers:
        at % 8 === 0
          ? [
              {
                id: String(7_000_000 + at),
                value: { free_response: `Because ${at}`, scale: null, select_one: null, select_many: null },
                question: { id: "q1", type: "free_response", text: "Why?" },
              },
            ]
          : [],
    };
  });
  const event = (name: string, every: number): JsonObject[] =>
    people
      .filter((person, at) => person.email !== null && at % every === 3)
      .map(({ id, email, name: called, created_at: created }) => ({
        person_id: id,
        email,
        name: called,
        [name]: created + 7200,
      }));
  return { people, responses, unsubscribes: event("unsubscribed_at", 7), bounces: event("bounced_at", 13) };
}

export type PastFiles = Readonly<Record<string, string>>;

const ndjson = (rows: readonly object[]): string => rows.map((row) => `${JSON.stringify(row)}\n`).join("");

function cell(value: Json | undefined): string {
  if (value === null || value === undefined) return "";
  return typeof value === "string" ? value : JSON.stringify(value);
}

function without(row: JsonObject, ...names: readonly string[]): JsonObject {
  return Object.fromEntries(Object.entries(row).filter(([name]) => !names.includes(name)));
}

function csv(rows: readonly JsonObject[]): string {
  const columns = [...new Set(rows.flatMap((row) => Object.keys(row)))];
  return stringify([columns, ...rows.map((row) => columns.map((column) => cell(row[column])))]);
}

const iso = (at: Json | undefined): Json => (typeof at === "number" ? new Date(at * 1000).toISOString() : null);
const database = (at: Json | undefined): Json => cell(iso(at)).replace("T", " ").replace(".000Z", " UTC");

function withTimes(row: JsonObject, format: (at: Json | undefined) => Json): JsonObject {
  return Object.fromEntries(
    Object.entries(row).map(([name, value]) => [name, name.endsWith("_at") && value !== null ? format(value) : value]),
  );
}

function flat(prefix: string, properties: Json | undefined): JsonObject {
  return Object.fromEntries(Object.entries(properties as JsonObject).map(([key, value]) => [prefix + key, value]));
}

function raw(rows: readonly JsonObject[]): string {
  return csv(
    rows.map((row, at) => ({
      _airbyte_ab_id: String(at),
      _airbyte_data: JSON.stringify(row),
      _airbyte_emitted_at: "2025-01-01 00:00:00",
    })),
  );
}

function prefixed(prefix: string, rows: readonly JsonObject[]): string {
  return csv(rows.map((row) => flat(`${prefix}__`, row)));
}

export const WHOLE_SHAPES: Readonly<Record<string, (truth: PastTruth) => PastFiles>> = {
  "NDJSON of the API": (truth) => ({
    "1.ndjson": ndjson(truth.responses),
    "2.ndjson": ndjson(truth.people),
    "3.ndjson": ndjson(truth.bounces),
    "4.ndjson": ndjson(truth.unsubscribes),
  }),
  "JSON arrays of the API, in parts": ({ responses, people, unsubscribes, bounces }) => ({
    "a/one.json": JSON.stringify(responses.slice(0, 100), null, 2),
    "b/one.json": `\ufeff${JSON.stringify(responses.slice(100))}`,
    "c.json": JSON.stringify(people),
    "d.json": JSON.stringify(unsubscribes),
    "e.json": JSON.stringify(bounces),
    "f.json": "[]",
  }),
  "CSV of the API": ({ responses, people, unsubscribes, bounces }) => ({
    "1.csv": csv(responses.map((row) => withTimes(row, iso))),
    "2.csv": csv(people.map((row) => withTimes(row, database))),
    "3.csv": csv(unsubscribes),
    "4.csv": csv(bounces),
  }),
  "rows with older versions of themselves": ({ responses, people, ...events }) => ({
    "1.ndjson": ndjson(responses),
    "2.ndjson": ndjson(
      responses.map((row) => ({ ...row, score: 0, comment: "older", updated_at: Number(row.created_at) - 1 })),
    ),
    "3.ndjson": ndjson(people),
    "4.ndjson": ndjson(events.unsubscribes),
    "5.ndjson": ndjson(events.bounces),
  }),
  "raw tables of Airbyte": ({ responses, people, unsubscribes, bounces }) => {
    return { "1.csv": raw(responses), "2.csv": raw(people), "3.csv": raw(unsubscribes), "4.csv": raw(bounces) };
  },
  "messages of Airbyte and Singer": ({ responses, people, unsubscribes, bounces }) => ({
    "1.jsonl": ndjson([
      { type: "LOG", log: { level: "INFO", message: "began" } },
      ...responses.map((data) => ({ type: "RECORD", record: { stream: "survey_responses", data, emitted_at: 1 } })),
      ...people.map((data) => ({ type: "RECORD", record: { stream: "people", data, emitted_at: 1 } })),
    ]),
    "2.jsonl": ndjson([
      { type: "SCHEMA", stream: "bounces", schema: {}, key_properties: [] },
      ...bounces.map((record) => ({ type: "RECORD", stream: "bounces", record })),
      ...unsubscribes.map((record) => ({ type: "RECORD", stream: "unsubscribes", record })),
      { type: "STATE", value: {} },
    ]),
  }),
  "tables of Fivetran": ({ responses, people, unsubscribes, bounces }) => ({
    "1.csv": csv(
      responses.map((row) => ({
        ...withTimes(without(row, "person", "person_properties", "notes", "tags", "additional_answers"), iso),
        person_id: row.person ?? null,
        ...flat("properties_", row.person_properties),
        _fivetran_synced: "2025-01-01T00:00:00Z",
      })),
    ),
    "2.csv": csv(
      responses.flatMap(({ id, tags }) =>
        (tags as string[]).map((tag) => ({ response_id: id ?? null, tag: JSON.stringify([tag]) })),
      ),
    ),
    "3.csv": csv(
      responses.flatMap(({ id, notes }) =>
        (notes as JsonObject[]).map((note) => ({ response_id: id ?? null, ...note })),
      ),
    ),
    "4.csv": csv(
      responses.flatMap(({ id, additional_answers: answers }) =>
        (answers as JsonObject[]).map((answer) => ({
          id: answer.id ?? null,
          response_id: id ?? null,
          question_id: (answer.question as JsonObject).id ?? null,
          free_response: (answer.value as JsonObject).free_response ?? null,
        })),
      ),
    ),
    "5.csv": csv([{ id: "q1", text: "Why?", type: "free_response" }]),
    "6.csv": csv(people.map((row) => ({ ...row, _fivetran_synced: "2025-01-01T00:00:00Z" }))),
    "7.csv": csv(unsubscribes),
    "8.csv": csv(bounces),
  }),
  "a log of webhooks": ({ responses, people, unsubscribes, bounces }) => ({
    "1.ndjson": ndjson([
      ...responses.map((row, at) => ({
        event_type: "survey_response.created",
        event_id: `a${at}`,
        event_data: { ...row, score: 0, updated_at: row.created_at },
      })),
      ...responses.map((row, at) => {
        const person = people.find(({ id }) => id === row.person) as JsonObject;
        return { event_type: "survey_response.updated", event_id: `b${at}`, event_data: { ...row, person } };
      }),
      ...unsubscribes.map((row, at) => ({ event_type: "unsubscribe.created", event_id: `c${at}`, event_data: row })),
    ]),
    "2.ndjson": ndjson(people),
    "3.ndjson": ndjson(bounces),
  }),
  "a table of Windsor": ({ responses, people, unsubscribes, bounces }) => {
    return {
      "1.csv": csv(
        responses.map(({ person, ...row }) => ({ ...flat("survey_responses__", row), people__id: person ?? null })),
      ),
      "2.csv": prefixed("people", people),
      "3.csv": prefixed("unsubscribes", unsubscribes),
      "4.csv": prefixed("bounces", bounces),
    };
  },
  "a table of Segment": ({ responses, people, unsubscribes, bounces }) => ({
    "1.csv": csv(
      responses.map((row, at) => ({
        id: `event-${at}`,
        event: "survey_response",
        survey_id: row.id ?? null,
        context_traits_delighted_person_id: row.person ?? null,
        timestamp: database(row.created_at),
        survey_updated_at: database(row.updated_at),
        survey_score: row.score ?? null,
        survey_type: row.survey_type ?? null,
        survey_comment: row.comment ?? null,
        survey_permalink: row.permalink ?? null,
        survey_notes: row.notes ?? null,
        survey_tags: row.tags ?? null,
        survey_additional_answers: row.additional_answers ?? null,
        ...flat("survey_properties_", row.person_properties),
      })),
    ),
    "2.ndjson": ndjson(people),
    "3.ndjson": ndjson(unsubscribes),
    "4.ndjson": ndjson(bounces),
  }),
  "CSV of the dashboard": ({ responses, people, unsubscribes, bounces }) => ({
    "1.csv": csv(
      responses.map((row) => ({
        "Response ID": row.id ?? null,
        "Person ID": row.person ?? null,
        Score: row.score ?? null,
        "Survey Type": row.survey_type ?? null,
        Comment: row.comment ?? null,
        "Response Date": iso(row.created_at),
        "Updated At": iso(row.updated_at),
        Tags: row.tags ?? null,
        Notes: row.notes ?? null,
        "Additional Answers": row.additional_answers ?? null,
        ...(row.person_properties as JsonObject),
      })),
    ),
    "2.csv": csv(
      people.map((row) => ({
        "Person ID": row.id ?? null,
        "E-Mail Address": row.email ?? null,
        "Full Name": row.name ?? null,
        "Phone Number": row.phone_number ?? null,
        "Date Created": iso(row.created_at),
        "Last Sent": row.last_sent_at === null ? null : iso(row.last_sent_at),
      })),
    ),
    "3.csv": csv(
      unsubscribes.map((row) => ({
        "Person ID": row.person_id ?? null,
        Email: row.email ?? null,
        Name: row.name ?? null,
        "Unsubscribed On": iso(row.unsubscribed_at),
      })),
    ),
    "4.csv": csv(
      bounces.map((row) => ({
        "Person ID": row.person_id ?? null,
        Email: row.email ?? null,
        Name: row.name ?? null,
        "Bounced On": iso(row.bounced_at),
      })),
    ),
  }),
};
