import path from "node:path";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { stringify } from "csv-stringify/sync";
import { afterEach, describe, expect, it, vi } from "vitest";
import { withFound } from "../../../src/cli/render/columns.ts";
import { createEncoder } from "../../../src/cli/render/encoders.ts";
import { RESPONSES } from "../../../src/cli/render/resources.ts";
import type { Deps } from "../../../src/cli/kit/deps.ts";
import { createClient } from "../../../src/client/create-client.ts";
import { undiciTransport } from "../../../src/client/transport/undici-transport.ts";
import type { JsonObject } from "../../../src/contract/json.ts";
import { systemClock } from "../../../src/runtime/clock.ts";
import { systemRandom } from "../../../src/runtime/random.ts";
import { fakeDeps, type FakeDeps } from "../../helpers/fake-deps.ts";
import { runCommand } from "../../helpers/run-command.ts";
import { type ListService, type ListServiceOptions, startListService } from "../../helpers/list-service.ts";

const START = 1_760_000_000;
const PEOPLE = ["people", "export", "--per-page", "5"];

let service: ListService | null = null;
afterEach(async () => {
  await service?.stop();
  service = null;
});

async function world(
  options: ListServiceOptions,
): Promise<FakeDeps & { readonly deps: Deps; readonly service: ListService }> {
  service = await startListService(options);
  const { baseUrl } = service;
  const fake = fakeDeps({ options: { columns: ["id"] } });
  const client = createClient({
    baseUrl,
    apiKey: "key",
    transport: undiciTransport({ baseUrl, env: {} }),
    clock: systemClock,
  });
  const connect = async () => ({
    client,
    profile: null,
    place: baseUrl,
    keyFingerprint: async () => "",
    retryCount: () => 0,
    close: () => client.close(),
  });
  const deps = { ...fake.deps, random: systemRandom, connect };
  return { ...fake, deps, service };
}

const withColumns = (deps: Deps, columns: readonly string[] | null): Deps => ({
  ...deps,
  options: { ...deps.options, columns },
});
const everyId = (count: number): string => Array.from({ length: count }, (_, index) => `${index + 1}\n`).join("");
const person = (id: number, at: number): JsonObject => ({
  id: String(id),
  email: `p${id}@example.com`,
  name: null,
  created_at: at,
  phone_number: null,
  last_sent_at: null,
  last_responded_at: null,
  next_survey_scheduled_at: null,
});

describe("people export", () => {
  const spread: readonly [string, (index: number) => number][] = [
    ["evenly spread", (index) => START + index * 3600],
    ["all in one second", () => START],
    ["crowded at the end of a long time", (index) => START + (index < 8 ? index : 5_000_000 + Math.floor(index / 20))],
  ];
  it.each(spread)("holds everyone in order when they are %s", async (_, at) => {
    const {
      deps,
      out,
      service: { requests },
    } = await world({
      lists: { people: Array.from({ length: 230 }, (_row, index) => person(index + 1, at(index))) },
    });
    await runCommand(deps, PEOPLE);
    expect(out()).toBe(`id\n${everyId(230)}`);
    expect(requests.length).toBeLessThan(120);
  });

  it("is read in windows, and in sequence from a service that ignores times", async () => {
    const people = Array.from({ length: 230 }, (_, index) => person(index + 1, START + index * 60));
    const windows = await world({ lists: { people } });
    await runCommand(windows.deps, PEOPLE);
    expect(windows.service.requests.filter(({ query }) => query.has("since")).length).toBeGreaterThan(3);
    await service?.stop();
    const walk = await world({ lists: { people }, ignoresTimes: true });
    await runCommand(walk.deps, PEOPLE);
    expect([windows.out(), walk.out()]).toEqual([`id\n${everyId(230)}`, `id\n${everyId(230)}`]);
  });

  it("holds people with a time in the future, and none who arrive after the start", async () => {
    const now = Math.floor(Date.now() / 1000);
    const people = Array.from({ length: 40 }, (_, index) => person(index + 1, now + (index - 20) * 600));
    const { deps, out } = await world({ lists: { people } });
    await runCommand(deps, PEOPLE);
    expect(out()).toBe(`id\n${everyId(40)}`);
    await service?.stop();
    const old = people.slice(0, 12);
    const later = await world({
      lists: { people: old },
      onRequest: ({ n }) => {
        if (n > 1) old.push(person(100 + n, Math.floor(Date.now() / 1000) + 2));
        return null;
      },
    });
    await runCommand(later.deps, PEOPLE);
    expect(later.out()).toBe(`id\n${everyId(12)}`);
  });

  it("continues from its state", async () => {
    const folder = await mkdtemp(path.join(tmpdir(), "surveyctl-people-"));
    const out = path.join(folder, "p.csv");
    const words = [...PEOPLE, "--out", out, "--state", path.join(folder, "p.state"), "--append"];
    const people = Array.from({ length: 12 }, (_, index) => person(index + 1, START + index * 60));
    const { deps } = await world({ lists: { people } });
    await runCommand(deps, words);
    people.push(person(13, Math.floor(Date.now() / 1000)));
    await runCommand(deps, words);
    await runCommand(deps, words);
    expect(await readFile(out, "utf8")).toBe(`id\n${everyId(13)}`);
    await rm(folder, { recursive: true });
  });
});

describe.each([
  ["bounces", "bounced_at"],
  ["unsubscribes", "unsubscribed_at"],
] as const)("%s export", (name, field) => {
  it("holds everyone in order, in fixed columns", async () => {
    const rows = Array.from({ length: 43 }, (_, index) => ({
      person_id: String(index + 1),
      email: `p${index + 1}@example.com`,
      name: null,
      [field]: START + Math.floor(index / 7),
    }));
    const { deps, out } = await world({ lists: { [name]: rows } });
    await runCommand(withColumns(deps, null), [name, "export", "--per-page", "5"]);
    const lines = out().trimEnd().split("\n");
    expect(lines[0]).toBe(`person_id,email,name,${field}`);
    expect(lines.slice(1).map((line) => line.split(",")[0])).toEqual(rows.map(({ person_id: id }) => id));
  });

  it("holds every row though ids are numbers that no number type holds", async () => {
    const ids = Array.from({ length: 43 }, (_, index) => `90071992547409${String(index).padStart(4, "0")}`);
    const { deps, out } = await world({
      lists: {},
      onRequest: ({ query }) => {
        const all = ids.map((id, index) => `{"person_id":${id},"email":"p${index}@example.com","${field}":${START}}`);
        const first = (Number(query.get("page")) - 1) * 5;
        return {
          status: 200,
          body: `[${Number(query.get("since") ?? 0) > START ? "" : all.slice(first, first + 5).join(",")}]`,
        };
      },
    });
    await runCommand(withColumns(deps, ["email"]), [name, "export", "--per-page", "5"]);
    expect(out()).toBe(`email\n${ids.map((_, index) => `p${index}@example.com\n`).join("")}`);
  });

  it.each([false, true])(
    "holds every row of somebody, and rows without a person (times ignored: %s)",
    async (ignoresTimes) => {
      const rows = Array.from({ length: 43 }, (_, index) => ({
        person_id: index % 5 === 0 ? null : String(index % 9),
        email: `p${index}@example.com`,
        [field]: START + Math.floor(index / 7),
      }));
      const { deps, out } = await world({ lists: { [name]: rows }, ignoresTimes });
      await runCommand(withColumns(deps, ["email"]), [name, "export", "--per-page", "5"]);
      expect(new Set(out().trimEnd().split("\n").slice(1))).toEqual(new Set(rows.map(({ email }) => email)));
    },
  );
});

const member = (id: number, properties: JsonObject): JsonObject => ({
  created_at: START + id,
  updated_at: START + id,
  person: {
    id: String(id),
    name: null,
    email: `p${id}@example.com`,
    phone_number: null,
    created_at: START,
    last_sent_at: null,
  },
  next_survey_request: { id: String(id + 50), created_at: START, survey_scheduled_at: START + 90, properties },
});

describe("autopilot export", () => {
  it("is read in sequence, with a column for each property under --flatten", async () => {
    const memberships = Array.from({ length: 12 }, (_, index) =>
      member(index + 1, index === 7 ? { seats: 3, plan: "pro" } : { plan: "free" }),
    );
    const {
      deps,
      out,
      service: { requests },
    } = await world({ lists: { memberships } });
    const words = ["autopilot", "export", "--per-page", "5", "--flatten", "--platform", "sms"];
    await runCommand(withColumns(deps, ["person_id"]), words);
    const lines = out().trimEnd().split("\n");
    expect([lines[0], lines[1], lines[8], lines.length]).toEqual([
      "person_id,properties.plan,properties.seats",
      "1,free,",
      "8,pro,3",
      13,
    ]);
    expect(requests.map(({ path: where }) => where)).toEqual(
      Array.from({ length: 3 }, () => "/v1/autopilot/sms/memberships.json"),
    );
  });

  it("distinguishes members whose person has another form", async () => {
    const memberships = Array.from({ length: 12 }, (_, index) =>
      Object.assign(member(index + 1, {}), [{ person: `p${index}` }, { person: null }, { person: {} }][index % 3]),
    );
    const { deps, out } = await world({ lists: { memberships } });
    await runCommand(withColumns(deps, ["created_at"]), ["autopilot", "export", "--per-page", "5"]);
    expect(out().trimEnd().split("\n")).toHaveLength(13);
  });
});

describe("columns that only rows bring", () => {
  const HOSTILE = [
    "plain",
    'a "quoted" text',
    "two\nlines",
    "mac\rline",
    "dos\r\nline",
    "tab\tbed",
    '"',
    "",
    "ä,ö",
    "\\n",
  ];
  const rows = Array.from({ length: 60 }, (_, index) => ({
    id: String(index + 1),
    person: String(index % 7),
    survey_type: "nps",
    score: index % 11,
    comment: HOSTILE[index % HOSTILE.length] ?? null,
    permalink: null,
    created_at: START + index,
    updated_at: START + index,
    person_properties: {},
    notes: [],
    tags: [],
    additional_answers: answersOf(index),
  }));

  /** Two questions that first appear late; one of them occurs once. */
  function answersOf(index: number): JsonObject[] {
    const answer = (id: string, text: string): JsonObject => ({
      id: `${index}${id}`,
      value: { free_response: text, scale: null, select_one: null, select_many: null },
      question: { id, type: "free_response", text: "Why?" },
    });
    if (index === 41) return [answer("late", "once\nonly")];
    return index > 17 && index % 3 === 0 ? [answer("why", HOSTILE[index % HOSTILE.length] ?? "")] : [];
  }

  it.each(["csv", "tsv"] as const)("are the same in %s as if all were known from the first row on", async (output) => {
    const { deps, out } = await world({
      lists: { survey_responses: rows },
      headers: { "x-additional-answers": "true" },
    });
    const options = { ...deps.options, columns: null };
    const parse = vi.spyOn(JSON, "parse");
    await runCommand({ ...deps, options }, ["responses", "export", "--per-page", "5", "-o", output]);
    const parsed = parse.mock.calls.map(([text]) => text).filter((text) => text.includes('"survey_type"'));
    parse.mockRestore();
    const grown = withFound(RESPONSES, rows);
    const encoder = createEncoder({
      format: output,
      columns: grown.columns,
      stringify: output === "csv" ? stringify : null,
      time: null,
      zone: null,
      now: START,
    });
    expect(grown.columns.slice(-2).map(({ name }) => name)).toEqual(["answers.why", "answers.late"]);
    expect(out()).toBe(encoder.head + encoder.rows({ rows, text: JSON.stringify(rows) }));
    expect(parsed).toEqual([...new Set(parsed)]);
  });
});
