/** Output at three terminal widths and in a pipe. `npx vitest run test/cli/program -u` updates the files. */
import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { JsonObject } from "../../../src/contract/json.ts";
import { runInProcess } from "../../helpers/in-process.ts";
import { startListService, type ListService, type Request, type Spoiled } from "../../helpers/list-service.ts";
import { isLong } from "../../helpers/long.ts";
import { bareEnvironment, runCli } from "../../helpers/run-cli.ts";
import {
  SAMPLE_BOUNCES,
  SAMPLE_MEMBERS,
  SAMPLE_PEOPLE,
  SAMPLE_RESPONSES,
  SAMPLE_SMS_MEMBERS,
  SAMPLE_UNSUBSCRIBES,
} from "../../helpers/sample-rows.ts";
import { startServe, type Served } from "../../helpers/serve.ts";

const METRICS = {
  nps: 12,
  promoter_count: 50,
  promoter_percent: 50,
  passive_count: 12,
  passive_percent: 12,
  detractor_count: 38,
  detractor_percent: 38,
  response_count: 100,
};
const EMAILS = { email_sent_count: 400, email_open_count: 250, email_bounce_count: 3, email_unsubscribe_count: 1 };

const configuration = (platform: string, active: boolean): JsonObject => ({
  platform_id: platform,
  active,
  frequency: 7_776_000,
  created_at: 1_767_225_600,
  updated_at: 1_768_435_200,
});

const ADA = {
  id: "1",
  email: "person1@example.com",
  name: "Ada Lovelace",
  phone_number: null,
  created_at: 1_767_225_600,
};
const PLAN = { plan: "pro", store: "Berlin" };

const WRITTEN: Readonly<Record<string, JsonObject>> = {
  "POST people.json": {
    id: "1",
    email: ADA.email,
    name: ADA.name,
    survey_scheduled_at: 1_768_435_200,
    properties: PLAN,
  },
  "POST survey_responses.json": { ...SAMPLE_RESPONSES[0], person: "1", additional_answers: null },
  "POST memberships.json": { person: ADA, properties: PLAN },
  "DELETE memberships.json": { person: ADA },
};

function answerOf({ method, path: place, query }: Request): JsonObject | readonly JsonObject[] | null {
  if (place.endsWith("/metrics.json"))
    return [...query.keys()].some((key) => key.startsWith("group")) ? { ...METRICS, ...EMAILS } : METRICS;
  if (place.endsWith("/autopilot/email.json")) return configuration("email", true);
  if (place.endsWith("/autopilot/sms.json")) return configuration("sms", false);
  if (method !== "GET") return WRITTEN[`${method} ${path.basename(place)}`] ?? null;
  if (query.has("person_id")) return [];
  if (place.endsWith("/sms/memberships.json")) return SAMPLE_SMS_MEMBERS;
  return query.has("email") ? SAMPLE_PEOPLE.slice(0, 1) : null;
}

const FUTURE = ["--since", "2030-01-01"];

const SCREENS: Readonly<Record<string, readonly string[]>> = {
  "first-words": [],
  help: ["--help"],
  "people-list": ["people", "list"],
  "people-list-empty": ["people", "list", ...FUTURE],
  "people-get": ["people", "get", "person1@example.com"],
  "people-add": ["people", "add", "--email", "person1@example.com"],
  "people-update": ["people", "update", "person1@example.com", "--name", "Ada Lovelace"],
  "responses-add": ["responses", "add", "--person-id", "1", "--score", "10"],
  "autopilot-add": ["autopilot", "add", "--email", "person1@example.com"],
  "autopilot-remove": ["autopilot", "remove", "--email", "person1@example.com", "--yes"],
  "responses-list": ["responses", "list"],
  "responses-list-empty": ["responses", "list", ...FUTURE],
  "responses-list-redacted": ["responses", "list", "--search", "great|slow", "--redact", "--quiet"],
  "responses-words": ["responses", "words", "--min-count", "1", "--limit", "5", "--quiet"],
  "bounces-list": ["bounces", "list"],
  "bounces-list-empty": ["bounces", "list", ...FUTURE],
  "unsubscribes-list": ["unsubscribes", "list"],
  "unsubscribes-list-empty": ["unsubscribes", "list", ...FUTURE],
  "autopilot-list": ["autopilot", "list"],
  "autopilot-list-sms": ["autopilot", "list", "--platform", "sms"],
  "autopilot-list-empty": ["autopilot", "list", "--person-id", "1"],
  "autopilot-config": ["autopilot", "config"],
  "autopilot-config-sms": ["autopilot", "config", "--platform", "sms"],
  metrics: ["metrics"],
  "metrics-compared": "metrics --since 2026-02-01 --until 2026-02-28 --compare previous".split(" "),
  "metrics-groups": ["metrics", "--group", "core,email"],
  "metrics-by-month": ["metrics", "--by", "month", "--since", "2026-01-01", "--until", "2026-03-31"],
  "auth-list": ["auth", "list"],
};

let service: ListService;
let home = "";
beforeAll(async () => {
  service = await startListService({
    lists: {
      people: [...SAMPLE_PEOPLE],
      survey_responses: [...SAMPLE_RESPONSES],
      bounces: [...SAMPLE_BOUNCES],
      unsubscribes: [...SAMPLE_UNSUBSCRIBES],
      memberships: [...SAMPLE_MEMBERS],
    },
    onRequest: (request): Spoiled | null => {
      const answer = answerOf(request);
      return answer === null ? null : { status: 200, body: JSON.stringify(answer) };
    },
  });
  home = await mkdtemp(path.join(tmpdir(), "surveyctl-screens-"));
  await mkdir(path.join(home, ".config/surveyctl"), { recursive: true, mode: 0o700 });
  const prod = { base_url: "https://surveys.example.com", api_key: "a-key-that-nobody-has" };
  const staging = {
    base_url: "https://staging.surveys.example.com/with/a/rather/long/path",
    key_command: "op read op://surveys/staging/key",
  };
  const saved = JSON.stringify({ default_profile: "prod", profiles: { prod, staging } });
  await writeFile(path.join(home, ".config/surveyctl/config.json"), saved, { mode: 0o600 });
});
afterAll(async () => {
  await service.stop();
  await rm(home, { recursive: true, force: true });
});

const WIDTHS = [60, 80, 120, null];

async function shown(
  args: readonly string[],
  columns: number | null,
  more: Record<string, string> = {},
): Promise<string> {
  const env = { ...bareEnvironment(home), ...more };
  const { status, stdout, stderr, screen } = await runInProcess({ args, env, ...(columns !== null && { columns }) });
  expect([status, columns === null ? stderr : ""]).toEqual([0, ""]);
  return columns === null ? stdout : screen;
}

/** Runs as a process in a real pseudo-terminal or pipe. Only a process shows the output without a command. */
async function reallyShown(args: readonly string[], columns: number | null): Promise<string> {
  const tty = columns === null ? {} : { tty: { columns } };
  const { status, stdout, stderr } = await runCli({ args, home, env: service.env, ...tty });
  expect([status, stderr]).toEqual([0, ""]);
  return stdout.replaceAll("\r\n", "\n");
}

describe.each(WIDTHS)("%s columns", (columns) => {
  const screens = Object.entries(SCREENS).filter(([, args]) => isLong || args.length > 0 || columns === 80);
  it.each(screens)("%s", async (name, args) => {
    const text = await (args.length === 0 ? reallyShown(args, columns) : shown(args, columns, service.env));
    await expect(text).toMatchFileSnapshot(fileOf(name, columns));
  });
});

const TRUE_SCREENS = (
  isLong
    ? Object.keys(SCREENS).flatMap((name) => WIDTHS.map((columns) => [name, columns] as const))
    : ([
        ["help", 80],
        ["responses-list", 120],
        ["autopilot-remove", 80],
        ["bounces-list", null],
      ] as const)
).map(([name, columns]) => ({ name, columns }));

it.each(TRUE_SCREENS)("a true terminal or pipe of $columns columns: $name", async ({ name, columns }) => {
  const golden = await readFile(path.join(import.meta.dirname, fileOf(name, columns)), "utf8");
  expect(await reallyShown(SCREENS[name] ?? [], columns)).toBe(golden);
});

const PREPARED = [
  "project add acme",
  "trend add Pro --where plan=pro --where region=EMEA",
  "throttle off --project acme",
];

describe("the service's own lists", () => {
  let served: Served;
  beforeAll(async () => {
    served = await startServe();
    for (const line of PREPARED) {
      const { status, stderr } = await served.run(["service", ...line.split(" "), "--data", served.dataFile]);
      if (status !== 0) throw new Error(stderr);
    }
  });
  afterAll(() => served.stop());

  const LOOKS: Readonly<Record<string, readonly string[]>> = {
    "service-project-list": ["project", "list"],
    "service-key-list": ["key", "list"],
    "service-trend-list": ["trend", "list"],
    "service-trend-list-empty": ["trend", "list", "--project", "acme"],
    "service-throttle": ["throttle"],
    "service-autopilot": ["autopilot"],
  };

  describe.each(WIDTHS)("%s columns", (columns) => {
    it.each(Object.entries(LOOKS))("%s", async (name, args) => {
      const command = ["service", ...args, "--data", served.dataFile];
      await expect(atOneTime(await shown(command, columns))).toMatchFileSnapshot(fileOf(name, columns));
    });
  });
});

function atOneTime(text: string): string {
  return text.replaceAll(/\d{4}-\d\d-\d\d([ T])\d\d:\d\d:\d\d/g, "2026-01-15$112:00:00");
}

function fileOf(name: string, columns: number | null): string {
  return `../../golden/terminal/${name}-${columns === null ? "pipe" : `terminal-${columns}`}.txt`;
}
