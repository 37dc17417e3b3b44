import { expect, test } from "vitest";
import { showWithLists } from "../../../../../src/cli/commands/service/data/record-lists.ts";
import { BUDGETS, DELIVERY_STATUS, SENDERS } from "../../../../../src/cli/commands/service/delivery/status.ts";
import { fakeDeps, type FakeOptions } from "../../../../helpers/fake-deps.ts";

const SINCE = Date.parse("2026-11-26T09:00:00Z") / 1000;
const SENDER = { process: null, stage: null, code: null, enhanced_code: null, since: null, next_probe_at: null };
const STATUS = {
  scheduled: 4,
  sent: 2,
  paused_projects: ["acme", "beta"],
  projects: [{ project: "acme", daily_limit: 500, sent_today: 2, waiting: 4, waiting_until: SINCE }],
  senders: [
    {
      ...SENDER,
      name: "smtp",
      process: "host:4242:ab",
      state: "held",
      code: 535,
      stage: "auth",
      reason: "5.7.8 Username and Password not accepted. Learn more at the relay's pages",
      since: SINCE,
    },
    { ...SENDER, name: "smtp", process: "host:4243:cd", state: "ready", reason: null },
  ],
};

async function shown(options: FakeOptions): Promise<string> {
  const { deps, out } = fakeDeps({ ...options, options: { timeZone: "UTC", ...options.options } });
  const columns = DELIVERY_STATUS.columns.filter(({ name }) => name in STATUS);
  await showWithLists(deps, { ...DELIVERY_STATUS, columns }, STATUS, [
    { name: "projects", resource: BUDGETS, rows: STATUS.projects },
    { name: "senders", resource: SENDERS, rows: STATUS.senders },
  ]);
  return out();
}

const RECORD = "scheduled        4\nsent             2\npaused_projects  acme, beta\n";

test("when a record holds lists, then on a terminal each is a table below it", async () => {
  const lines = (await shown({ width: 80 })).split("\n");
  expect(lines.slice(0, 3).join("\n")).toBe(RECORD.trimEnd());
  expect(lines.slice(3)).toEqual([
    "",
    "PROJECT  DAILY LIMIT  SENT TODAY  WAITING  WAITING UNTIL",
    "acme             500           2        4  2026-11-26 09:00:00",
    "",
    "NAME  PROCESS       STATE  LAST WORDS",
    "smtp  host:4242:ab  held   auth 535 5.7.8 Username and Password not accepted.",
    "                           Learn more at the relay's pages",
    "smtp  host:4243:cd  ready",
    "",
  ]);
});

test("when -o record is asked, then it is the same in a pipe", async () => {
  expect(await shown({ options: { output: "record" } })).toContain(`${RECORD}\nPROJECT `);
});

test("when a script reads it, then lists are values as they were", async () => {
  expect(JSON.parse(await shown({ options: { output: "json" } }))).toEqual(STATUS);
  expect((await shown({})).split("\n").at(-2)).toBe(`senders\t${JSON.stringify(STATUS.senders)}`);
});
