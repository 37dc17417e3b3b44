/** What people see on real terminals of three widths and in a pipe (vitest run test/cli/program -u rewrites the files). */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startListService, type ListService } from "../../helpers/list-service.ts";
import { runCli } from "../../helpers/run-cli.ts";
import { SAMPLE_PEOPLE, SAMPLE_RESPONSES } from "../../helpers/sample-rows.ts";

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

const SCREENS: Readonly<Record<string, readonly string[]>> = {
  "first-words": [],
  help: ["--help"],
  "people-list": ["people", "list"],
  "people-get": ["people", "get", "person1@example.com"],
  "responses-list": ["responses", "list"],
  metrics: ["metrics"],
  "metrics-by-month": ["metrics", "--by", "month", "--since", "2026-01-01", "--until", "2026-03-31"],
};

let service: ListService;
beforeAll(async () => {
  service = await startListService({
    lists: { people: [...SAMPLE_PEOPLE], survey_responses: [...SAMPLE_RESPONSES] },
    onRequest: ({ path, query }) => {
      if (path.endsWith("/metrics.json")) return { status: 200, body: JSON.stringify(METRICS) };
      return query.has("email") ? { status: 200, body: JSON.stringify(SAMPLE_PEOPLE.slice(0, 1)) } : null;
    },
  });
});
afterAll(() => service.stop());

describe.each([60, 80, 120, null])("%s columns", (columns) => {
  it.each(Object.entries(SCREENS))("%s", async (name, args) => {
    const { status, stdout, stderr } = await runCli({ args, env: service.env, ...(columns !== null && { tty: { columns } }) });
    expect([status, stderr]).toEqual([0, ""]);
    const place = columns === null ? "pipe" : `terminal-${columns}`;
    await expect(stdout.replaceAll("\r\n", "\n")).toMatchFileSnapshot(`../../golden/terminal/${name}-${place}.txt`);
  });
});
