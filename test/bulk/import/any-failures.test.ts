/** Whatever fails and wherever the process dies, all runs together must end like one undisturbed run. */
import { once } from "node:events";
import { statSync } from "node:fs";
import { appendFile, mkdtemp, rm, truncate, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import * as fc from "fast-check";
import { afterEach, beforeEach, expect, it } from "vitest";
import { openJournal, type Journal } from "../../../src/bulk/import/journal/journal.ts";
import { readJournal } from "../../../src/bulk/import/journal/journal-state.ts";
import { PEOPLE_ROWS } from "../../../src/bulk/import/check/kinds.ts";
import { openTable, type ImportTable } from "../../../src/bulk/import/table/open-table.ts";
import type { RecordedOutcome, RowOutcome } from "../../../src/bulk/import/journal/outcome.ts";
import { openRecordedOutcomes } from "../../../src/bulk/import/journal/recorded-outcomes.ts";
import { systemClock } from "../../../src/runtime/clock.ts";
import { sendRows, type Sender } from "../../../src/bulk/import/send-rows.ts";
import { createFakeClock } from "../../helpers/fake-clock.ts";
import { size } from "../../helpers/long.ts";
import { openTestInput } from "../../helpers/input-file.ts";

let folder = "";
beforeEach(async () => {
  folder = await mkdtemp(path.join(tmpdir(), "surveyctl-failures-"));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

/** `crash` means that the process dies during the request, before or after it arrives. */
const FATES = [
  "fine",
  "lost before",
  "lost after",
  "500 before",
  "500 after",
  "dead network",
  "interrupted before",
  "interrupted after",
  "crash before",
  "crash after",
  "accepted before",
  "accepted after",
  "accepted and crash before",
  "accepted and crash after",
] as const;
type Fate = (typeof FATES)[number];

interface RunPlan {
  readonly fates: readonly Fate[];
  readonly settles: readonly boolean[];
  readonly concurrency: number;
  /** What a crash leaves of an unfinished line. */
  readonly torn: string;
  readonly retryUnknown?: boolean;
}

const runPlan: fc.Arbitrary<RunPlan> = fc.record({
  fates: fc.array(fc.oneof({ weight: 5, arbitrary: fc.constant<Fate>("fine") }, fc.constantFrom(...FATES)), {
    maxLength: 25,
  }),
  settles: fc.array(fc.boolean(), { maxLength: 10 }),
  concurrency: fc.integer({ min: 1, max: 4 }),
  torn: fc.constantFrom("", "{", '{"done":{"line":2,"identifier":"someb', '{"intent":[2,3'),
});

const UNDISTURBED: RunPlan = { fates: [], settles: [], concurrency: 2, torn: "", retryUnknown: true };

interface Truth {
  readonly arrivals: Map<number, number>;
  readonly sent: Map<number, number>;
  readonly accepted: Set<number>;
}

async function tableOf(file: string, rows: number): Promise<ImportTable> {
  await writeFile(file, `email\n${Array.from({ length: rows }, (_, index) => `ann${index}@example.com\n`).join("")}`);
  const readers = { time: () => null, latestTime: 0, delay: () => null };
  const header = { renames: [], ignored: [], suggest: () => null };
  return openTable(await openTestInput(file), { kind: PEOPLE_ROWS, readers, header, properties: {}, defaults: {} });
}

function scheduled(line: number): RowOutcome {
  return { outcome: "scheduled", personId: String(line), surveyScheduledAt: 1000, error: null };
}

const LOST: RowOutcome = { outcome: "unknown", personId: null, surveyScheduledAt: null, error: "the answer was lost" };

const FAILED: RowOutcome = { ...LOST, outcome: "failed", error: "out of order", mayHaveArrived: true };

function never<T>(): Promise<T> {
  return new Promise<T>(() => undefined);
}

function createSender(plan: RunPlan, truth: Truth, death: AbortController, stop: AbortController): Sender {
  const { arrivals, sent, accepted } = truth;
  const fates = [...plan.fates];
  const settles = [...plan.settles];
  const arrive = (line: number): number => arrivals.set(line, (arrivals.get(line) ?? 0) + 1).size;
  const interrupt = (): never => {
    stop.abort(new Error("interrupted"));
    throw stop.signal.reason as Error;
  };
  return {
    async send({ line }, onAccepted) {
      await new Promise(setImmediate);
      if (death.signal.aborted) return never();
      const fate = fates.shift() ?? "fine";
      if (fate === "dead network") throw new Error("dead network");
      sent.set(line, (sent.get(line) ?? 0) + 1);
      if (fate === "fine" || fate.endsWith("after")) arrive(line);
      await new Promise(setImmediate);
      if (death.signal.aborted) return never();
      if (fate.startsWith("accepted")) {
        await onAccepted();
        accepted.add(line);
      }
      if (fate.includes("crash")) {
        death.abort();
        return never();
      }
      if (fate.startsWith("interrupted")) return interrupt();
      if (fate.startsWith("500")) return FAILED;
      return fate === "fine" ? scheduled(line) : LOST;
    },
    async lookUp({ line }) {
      if (settles.shift() === false) return { kind: "unsettled", reason: "the look-up cannot tell" };
      return arrivals.has(line) ? { kind: "arrived", outcome: scheduled(line) } : { kind: "absent" };
    },
    isIdempotent: () => false,
    isUnsent: (error) => (error as Error).message === "dead network",
    neverRepeatUnknown: false,
    serverNow: () => 500,
  };
}

interface MortalJournal extends Journal {
  /** Truncates the journal to what was durable, plus a torn line. */
  bury(torn: string): Promise<void>;
}

/** A dead process writes nothing more, and unacknowledged writes can be lost. */
function mortal(file: string, journal: Journal, death: AbortController): MortalJournal {
  let durable = statSync(file).size;
  return {
    async write(entry) {
      if (death.signal.aborted) return never();
      await journal.write(entry);
      if (death.signal.aborted) return never();
      durable = statSync(file).size;
    },
    close: () => journal.close(),
    async bury(torn) {
      await truncate(file, durable);
      await appendFile(file, torn);
    },
  };
}

async function run(table: ImportTable, rows: number, file: string, plan: RunPlan, truth: Truth): Promise<boolean> {
  const before = await readJournal(file);
  const death = new AbortController();
  const died = once(death.signal, "abort");
  const journal = mortal(file, await openJournal(file, before.length, createFakeClock()), death);
  const stop = new AbortController();
  const ended = sendRows({
    table,
    before,
    journal,
    sender: createSender(plan, truth, death, stop),
    skip: () => null,
    rows,
    clock: systemClock,
    sentBy: 500,
    retryUnknown: plan.retryUnknown ?? false,
    concurrency: plan.concurrency,
    signal: stop.signal,
    onDone: () => undefined,
  });
  await Promise.race([ended, died]);
  await journal.close();
  if (death.signal.aborted) await journal.bury(plan.torn);
  return death.signal.aborted || stop.signal.aborted;
}

/** Rows that succeeded, or whose retries are used up, must not be sent again. */
async function runUnasked(...args: Parameters<typeof run>): Promise<void> {
  const [, rows, file, , { sent, accepted }] = args;
  const lines = Array.from({ length: rows }, (_, index) => index + 2);
  const [before, sentBefore, acceptedBefore] = [await readJournal(file), new Map(sent), new Set(accepted)];
  const wasCutShort = await run(...args);
  const after = await readJournal(file);
  const isRepeated = (line: number): boolean => sentBefore.has(line) && sent.get(line) !== sentBefore.get(line);
  const mayNotBeSent = (line: number): boolean => before.noRepeat(line) || acceptedBefore.has(line);
  const isLeftOpen = (line: number): boolean => after.outcomeOf(line) === "unknown" && !after.noRepeat(line);
  expect(lines.filter((line) => isRepeated(line) && mayNotBeSent(line))).toEqual([]);
  expect(lines.filter((line) => !wasCutShort && isRepeated(line) && isLeftOpen(line))).toEqual([]);
}

async function recorded(file: string): Promise<RecordedOutcome[]> {
  const outcomes = await openRecordedOutcomes(file);
  const all: RecordedOutcome[] = [];
  for await (const batch of outcomes.inOrder()) all.push(...batch);
  await outcomes.close();
  return all;
}

it("when any runs fail in any way and a last one does not, then every row was sent once and is recorded in order", async () => {
  let example = 0;
  await fc.assert(
    fc.asyncProperty(fc.integer({ min: 1, max: 30 }), fc.array(runPlan, { maxLength: 5 }), async (rows, plans) => {
      example += 1;
      const file = path.join(folder, `journal-${example}`);
      const table = await tableOf(path.join(folder, `in-${example}.csv`), rows);
      const truth: Truth = { arrivals: new Map(), sent: new Map(), accepted: new Set() };
      for (const plan of plans) await runUnasked(table, rows, file, plan, truth);
      await run(table, rows, file, UNDISTURBED, truth);

      const { arrivals } = truth;
      const lines = Array.from({ length: rows }, (_, index) => index + 2);
      expect([...arrivals].toSorted(([left], [right]) => left - right)).toEqual(lines.map((line) => [line, 1]));
      const expected = lines.map((line) => ({ line, identifier: `ann${line - 2}@example.com`, ...scheduled(line) }));
      expect(await recorded(file)).toEqual(expected);
      expect((await readJournal(file)).ended).toBe(true);
    }),
    { numRuns: size(20, 1000), seed: 20_261_121 },
  );
}, 600_000);
