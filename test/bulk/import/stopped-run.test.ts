import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { openJournal } from "../../../src/bulk/import/journal/journal.ts";
import { readJournal } from "../../../src/bulk/import/journal/journal-state.ts";
import { PEOPLE_ROWS } from "../../../src/bulk/import/check/kinds.ts";
import { openTable, type ImportTable } from "../../../src/bulk/import/table/open-table.ts";
import { noOutcomes, type OutcomeCounts, type RowOutcome } from "../../../src/bulk/import/journal/outcome.ts";
import { systemClock } from "../../../src/runtime/clock.ts";
import { sendRows, type Sender, type SendReport, type Settled } from "../../../src/bulk/import/send-rows.ts";
import { openTestInput } from "../../helpers/input-file.ts";

const countsOf = (some: Partial<OutcomeCounts>): OutcomeCounts => ({ ...noOutcomes(), ...some });

const SCHEDULED: RowOutcome = { outcome: "scheduled", personId: "7", surveyScheduledAt: 1000, error: null };
const UNKNOWN: RowOutcome = {
  outcome: "unknown",
  personId: null,
  surveyScheduledAt: null,
  error: "the answer was lost",
};

let folder = "";

beforeEach(async () => {
  folder = await mkdtemp(path.join(tmpdir(), "surveyctl-stopped-"));
});

afterEach(() => rm(folder, { recursive: true, force: true }));

async function tableOf(rows: number): Promise<ImportTable> {
  const file = path.join(folder, "people.csv");
  await writeFile(file, `email\n${Array.from({ length: rows }, (_, index) => `ann${index}@example.com\n`).join("")}`);
  const readers = { time: () => null, latestTime: 0, delay: () => null };
  const header = { renames: [], ignored: [], suggest: () => null };
  return openTable(await openTestInput(file), { kind: PEOPLE_ROWS, readers, header, properties: {}, defaults: {} });
}

interface RunParts {
  readonly rows: number;
  readonly sender: Partial<Sender>;
  readonly signal?: AbortSignal;
  readonly retryUnknown?: boolean;
}

function unused(): never {
  throw new Error("not expected to be called");
}

async function run({ rows, sender, signal, retryUnknown = false }: RunParts): Promise<SendReport> {
  const file = path.join(folder, "journal");
  const before = await readJournal(file);
  const journal = await openJournal(file, before.length, systemClock);
  try {
    return await sendRows({
      table: await tableOf(rows),
      before,
      journal,
      sender: {
        send: unused,
        lookUp: unused,
        isIdempotent: () => false,
        isUnsent: (error) => (error as Error).message === "connection refused",
        neverRepeatUnknown: false,
        serverNow: () => 500,
        ...sender,
      },
      skip: () => null,
      rows,
      clock: systemClock,
      sentBy: 550,
      retryUnknown,
      concurrency: 2,
      signal: signal ?? new AbortController().signal,
      onDone: () => undefined,
    });
  } finally {
    await journal.close();
  }
}

function linesOf(from: number, to: number): number[] {
  return Array.from({ length: to - from + 1 }, (_, index) => from + index);
}

test("when a run is stopped, then rows that it had not begun need no look-up", async () => {
  const stop = new AbortController();
  const sent: number[] = [];
  const first = await run({
    rows: 40,
    signal: stop.signal,
    sender: {
      send: async ({ line }) => {
        sent.push(line);
        if (sent.length === 3) stop.abort(new Error("stopped"));
        return SCHEDULED;
      },
    },
  });
  expect(first.stoppedBy).toEqual(new Error("stopped"));
  const after: number[] = [];
  const second = await run({
    rows: 40,
    sender: {
      send: async ({ line }) => {
        after.push(line);
        return SCHEDULED;
      },
    },
  });
  const counts = countsOf({ scheduled: 40 });
  expect(second).toEqual({
    counts,
    earlier: { ...counts, scheduled: sent.length },
    unfinished: 0,
    failures: [],
    stoppedBy: null,
  });
  expect([...sent, ...after].toSorted((left, right) => left - right)).toEqual(linesOf(2, 41));
});

test("when the service cannot be reached, then the row that found it out is simply sent by the next run", async () => {
  const dead = new Error("connection refused");
  expect((await run({ rows: 3, sender: { send: () => Promise.reject(dead) } })).stoppedBy).toBe(dead);
  const report = await run({ rows: 3, sender: { send: async () => SCHEDULED } });
  expect(report).toEqual({
    counts: countsOf({ scheduled: 3 }),
    earlier: countsOf({}),
    failures: [],
    unfinished: 0,
    stoppedBy: null,
  });
});

test("when the signal stopped a row on its way, then the next run looks it up", async () => {
  const stop = new AbortController();
  await run({
    rows: 1,
    signal: stop.signal,
    sender: {
      send: () => {
        stop.abort(new Error("stopped"));
        return Promise.reject(stop.signal.reason as Error);
      },
    },
  });
  const looked: unknown[] = [];
  const lookUp: Sender["lookUp"] = async ({ line }, options) => {
    looked.push([line, options]);
    return { kind: "arrived", outcome: SCHEDULED };
  };
  const report = await run({ rows: 1, sender: { lookUp } });
  expect(looked).toEqual([[2, { intentAt: 500, sentBy: 550 }]]);
  expect(report.counts.scheduled).toBe(1);
});

const later: readonly {
  readonly settled: Settled;
  readonly needsWord: boolean;
  readonly retry: boolean;
  readonly outcome: string;
  readonly sends: number;
}[] = [
  { settled: { kind: "arrived", outcome: SCHEDULED }, needsWord: false, retry: false, outcome: "scheduled", sends: 0 },
  { settled: { kind: "arrived", outcome: SCHEDULED }, needsWord: true, retry: true, outcome: "scheduled", sends: 0 },
  { settled: { kind: "absent" }, needsWord: false, retry: false, outcome: "scheduled", sends: 1 },
  { settled: { kind: "absent" }, needsWord: true, retry: false, outcome: "unknown", sends: 0 },
  { settled: { kind: "absent" }, needsWord: true, retry: true, outcome: "scheduled", sends: 1 },
  { settled: { kind: "unsettled", reason: "?" }, needsWord: false, retry: false, outcome: "unknown", sends: 0 },
  { settled: { kind: "unsettled", reason: "?" }, needsWord: false, retry: true, outcome: "scheduled", sends: 1 },
];

test.each(later)(
  "when a row was unknown and is $settled.kind now (word needed: $needsWord, given: $retry), then it is $outcome",
  async ({ settled, needsWord, retry, outcome, sends }) => {
    expect((await run({ rows: 1, sender: { send: async () => UNKNOWN } })).counts.unknown).toBe(1);
    let sent = 0;
    const sender: Partial<Sender> = {
      neverRepeatUnknown: needsWord,
      lookUp: async () => settled,
      send: async () => {
        sent += 1;
        return SCHEDULED;
      },
    };
    const report = await run({ rows: 1, sender, retryUnknown: retry });
    expect([sent, report.counts[outcome as "unknown" | "scheduled"], report.stoppedBy]).toEqual([sends, 1, null]);
  },
);

const FAILED: RowOutcome = { outcome: "failed", personId: null, surveyScheduledAt: null, error: "out of order" };

test("when a resumed run stops early, then rows that it did not reach keep what previous runs know of them", async () => {
  const killed = new AbortController();
  await run({
    rows: 30,
    sender: { send: async ({ line }) => (line < 20 ? UNKNOWN : line < 22 ? FAILED : SCHEDULED) },
  });
  const journal = path.join(folder, "journal");
  // As left by a run that was killed before its last outcome.
  const entries = (await readFile(journal, "utf8")).split("\n").filter((entry) => !/"line":31,|"end"/.test(entry));
  await writeFile(journal, entries.join("\n"));
  const stop = (): never => {
    killed.abort(new Error("stopped"));
    throw killed.signal.reason as Error;
  };
  const report = await run({ rows: 31, signal: killed.signal, sender: { lookUp: async () => stop() } });
  const counts = countsOf({ scheduled: 9, failed: 2, unknown: 18 });
  expect(report).toEqual({ counts, earlier: counts, unfinished: 1, failures: [], stoppedBy: killed.signal.reason });
});

test("when rows failed, then the next run sends them and no others", async () => {
  const first = await run({ rows: 4, sender: { send: async ({ line }) => (line % 2 === 0 ? FAILED : SCHEDULED) } });
  expect(first.counts).toEqual(countsOf({ scheduled: 2, failed: 2 }));
  const sent: number[] = [];
  const send: Sender["send"] = async ({ line }) => {
    sent.push(line);
    return SCHEDULED;
  };
  const second = await run({ rows: 4, sender: { send } });
  expect([sent.toSorted((one, other) => one - other), second.counts]).toEqual([[2, 4], countsOf({ scheduled: 4 })]);
});

test("when an unknown row was repeated and failed, then the next run looks it up before it is sent again", async () => {
  await run({ rows: 1, sender: { send: async () => UNKNOWN } });
  const absent: Partial<Sender> = { neverRepeatUnknown: true, lookUp: async () => ({ kind: "absent" }) };
  await run({ rows: 1, sender: { ...absent, send: async () => FAILED }, retryUnknown: true });
  const { counts } = await run({ rows: 1, sender: absent });
  expect(counts).toEqual(countsOf({ unknown: 1 }));
});

test("when a row that had failed was on its way again when the signal came, then the next run looks it up", async () => {
  await run({ rows: 1, sender: { send: async () => FAILED } });
  const stop = new AbortController();
  const send = (): Promise<RowOutcome> => {
    stop.abort(new Error("stopped"));
    return Promise.reject(stop.signal.reason as Error);
  };
  await run({ rows: 1, signal: stop.signal, sender: { send, serverNow: () => 600 } });
  const looked: unknown[] = [];
  const lookUp: Sender["lookUp"] = async ({ line }, options) => {
    looked.push([line, options]);
    return { kind: "arrived", outcome: SCHEDULED };
  };
  const { counts } = await run({ rows: 1, sender: { lookUp } });
  expect([looked, counts.scheduled]).toEqual([[[2, { intentAt: 600, sentBy: 550 }]], 1]);
});

test.each<[string, Sender["send"], number]>([
  ["the service refused", async () => FAILED, 1],
  ["never left", () => Promise.reject(new Error("connection refused")), 1],
  ["was lost too", async () => UNKNOWN, 0],
  ["was on its way when the run ended", () => Promise.reject(new Error("the connection broke")), 1],
])(
  "when a repeat is one that %s, then the next run looks the row up and repeats it or not",
  async (_, send, repeats) => {
    await run({ rows: 1, sender: { send: async () => UNKNOWN } });
    let looks = 0;
    const lookUp: Sender["lookUp"] = async () => {
      looks += 1;
      return { kind: "absent" };
    };
    await run({ rows: 1, sender: { lookUp, send } });
    let sent = 0;
    const again: Sender["send"] = async () => {
      sent += 1;
      return SCHEDULED;
    };
    const { counts } = await run({ rows: 1, sender: { lookUp, send: again } });
    expect([looks, sent, counts]).toEqual([2, repeats, countsOf({ scheduled: repeats, unknown: 1 - repeats })]);
  },
);
