import { stat } from "node:fs/promises";
import path from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { firstRows, peopleAt, personKey, readCsv, receivers } from "../../../helpers/imported.ts";
import { size } from "../../../helpers/long.ts";
import { startProgram } from "../../../helpers/run-cli.ts";
import { seededRandom } from "../../../helpers/seeded-random.ts";
import { startServe, type Served } from "../../../helpers/serve.ts";

const KILLS = size(2, 20);
const ROWS = size(100, 2000);
/** This service replies right away or never, so resuming can wait less than by default. */
const SETTLE = { SURVEYCTL_SETTLE: "1" };
/** Approximate size of a row in the journal. */
const ROW_BYTES = 190;

let service: Served;
beforeEach(async () => {
  service = await startServe();
  // Otherwise the throttle would hide a second survey to the same person.
  await service.run(["service", "throttle", "off", "--data", service.dataFile]);
});
afterEach(async () => {
  await service.stop();
});

const sizeOf = async (file: string): Promise<number> => (await stat(file).catch(() => ({ size: 0 }))).size;

/** Returns false if the run had already ended. */
async function killed(args: readonly string[], journal: string, growth: number, laterMs: number): Promise<boolean> {
  const before = await sizeOf(journal);
  const { child, ended } = startProgram({ args, home: service.folder, env: { ...service.env, ...SETTLE } });
  child.stdin.end();
  while (child.exitCode === null && (await sizeOf(journal)) - before < growth)
    await new Promise((resolve) => setTimeout(resolve, 3));
  await new Promise((resolve) => setTimeout(resolve, laterMs));
  child.kill("SIGKILL");
  return (await ended).signal === "SIGKILL";
}

it(`when it is killed at ${KILLS} moments and resumed, then each person has exactly one survey`, async () => {
  const random = seededRandom(20_260_131);
  const results = path.join(service.folder, "results.csv");
  const input = await firstRows(service.folder, "customers.csv", ROWS);
  const args = ["people", "import", input, "--send", "--ignore-column", "delay", "--results", results, "--quiet"];
  let deaths = 0;
  for (let kill = 0; kill < KILLS; kill += 1) {
    const growth = Math.floor(random() * 2 * ((0.95 * ROWS) / KILLS) * ROW_BYTES);
    const again = (await sizeOf(`${results}.journal`)) > 0 ? ["--resume"] : [];
    if (await killed([...args, ...again], `${results}.journal`, growth, random() * 8)) deaths += 1;
  }
  const rows = await readCsv(input);
  const everybody = rows.map(personKey).toSorted();
  expect(deaths).toBeGreaterThanOrEqual(KILLS / 2);
  expect(await service.run([...args, "--resume"], { env: SETTLE })).toEqual({
    status: 0,
    signal: null,
    stdout: "",
    stderr: "",
  });

  expect(await peopleAt(service)).toEqual(everybody);
  const mailed = rows.map((row) => (row["channel"] === "sms" ? (row["phone_number"] ?? "") : personKey(row)));
  expect(await receivers(service, rows.length)).toEqual(mailed.toSorted());
  const outcomes = (await readCsv(results)).map(({ line, identifier, outcome }) => ({ line, identifier, outcome }));
  expect(outcomes).toEqual(
    rows.map((row, index) => ({
      line: String(index + 2),
      identifier: row["email"] || row["phone_number"],
      outcome: "scheduled",
    })),
  );
}, 120_000);
