import { describe, expect, it } from "vitest";
import { listRows, type ListLimits } from "../../../src/cli/kit/rows/list-rows.ts";
import { PEOPLE } from "../../../src/cli/render/resources.ts";
import type { JsonObject } from "../../../src/contract/json.ts";
import { readCommands } from "../../helpers/command-tree.ts";
import { fakeClient, type Answers } from "../../helpers/fake-client.ts";
import { fakeDeps, type FakeOptions } from "../../helpers/fake-deps.ts";

const people = (from: number, to: number): JsonObject[] =>
  Array.from({ length: to - from + 1 }, (_, index) => ({ id: String(from + index) }));

async function list(limits: ListLimits, answers: Answers, options: FakeOptions = {}) {
  const { client, calls } = fakeClient(answers);
  const { deps, out, err } = fakeDeps({ client, ...options, options: { output: "ndjson", ...options.options } });
  const status = await listRows(deps, {
    resource: PEOPLE,
    limits,
    parameters: { since: 5 },
    pages: (to, parameters, callOptions) => to.listPeople(parameters, callOptions),
  });
  const ids = out()
    .trimEnd()
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => Number((JSON.parse(line) as { id: string }).id));
  return { status, count: ids.length, last: ids.at(-1), err: err(), calls };
}

const MORE = (limit: number): string => `Showing ${limit} rows; use --limit N or --all for more\n`;
const asked = (...pages: number[]) =>
  pages.map((perPage, index) => ({
    call: index === 0 ? "listPeople" : "listPeople again",
    parameters: { since: 5, per_page: perPage },
  }));

it("when a command is named list, then it can print the number of its rows alone", async () => {
  const lists = (await readCommands()).filter(({ name }) => name.endsWith(" list"));
  expect(lists.length).toBeGreaterThan(15);
  expect(lists.filter(({ flags }) => !flags.includes("--count")).map(({ name }) => name)).toEqual([]);
});

describe("a list of pages", () => {
  it.each<[string, ListLimits, Answers, { count: number; err: string; calls: number[] }]>([
    [
      "ends with the service's rows",
      { limit: 50, perPage: null, wrap: false, count: false },
      { pages: [people(1, 3)] },
      { count: 3, err: "", calls: [50] },
    ],
    [
      "notes that a cursor names more",
      { limit: 50, perPage: null, wrap: false, count: false },
      { pages: [people(1, 50), people(51, 60)] },
      { count: 50, err: MORE(50), calls: [50] },
    ],
    [
      "says nothing when the limit was all there is",
      { limit: 50, perPage: null, wrap: false, count: false },
      { pages: [people(1, 50)] },
      { count: 50, err: "", calls: [50] },
    ],
    [
      "looks at the next page of a page-numbered list before it says that more exist",
      { limit: 50, perPage: null, wrap: false, count: false },
      { pages: [people(1, 50), people(51, 52)], cursor: false },
      { count: 50, err: MORE(50), calls: [50, 50] },
    ],
    [
      "finds that page empty",
      { limit: 50, perPage: null, wrap: false, count: false },
      { pages: [people(1, 50), []], cursor: false },
      { count: 50, err: "", calls: [50, 50] },
    ],
    [
      "also looks behind pages that hold fewer rows than were asked for",
      { limit: 40, perPage: null, wrap: false, count: false },
      { pages: [people(1, 20), people(21, 40), people(41, 60)], cursor: false },
      { count: 40, err: MORE(40), calls: [40, 40, 40] },
    ],
    [
      "cuts a page at the limit",
      { limit: 150, perPage: null, wrap: false, count: false },
      { pages: [people(1, 100), people(101, 200)], cursor: false },
      { count: 150, err: MORE(150), calls: [100, 100] },
    ],
    [
      "takes everything",
      { limit: null, perPage: 2, wrap: false, count: false },
      { pages: [people(1, 2), people(3, 4), people(5, 5)] },
      { count: 5, err: "", calls: [2, 2, 2] },
    ],
  ])("%s", async (_, limits, answers, { count, err, calls }) => {
    const all = await list(limits, answers);
    expect(all).toEqual({ status: 0, count, last: count, err, calls: asked(...calls) });
  });

  it("asks for nothing more under --quiet", async () => {
    const quiet = await list(
      { limit: 2, perPage: null, wrap: false, count: false },
      { pages: [people(1, 2), people(3, 4)], cursor: false },
      { options: { quiet: true } },
    );
    expect(quiet).toEqual({ status: 0, count: 2, last: 2, err: "", calls: asked(2) });
  });

  it("refuses an unknown column before it connects", async () => {
    const { deps } = fakeDeps({ options: { columns: ["nope"] } });
    const limits = { limit: 50, perPage: null, wrap: false, count: false };
    await expect(
      listRows(deps, {
        resource: PEOPLE,
        limits,
        parameters: {},
        pages: (client, parameters) => client.listPeople(parameters),
      }),
    ).rejects.toThrow('--columns: "nope" is not a column of people');
  });
});
