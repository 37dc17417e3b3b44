import path from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { startFaultyProxy, type FaultyProxy } from "../../../helpers/faulty-proxy.ts";
import { firstRows, peopleAt, personKey, readCsv, receivers } from "../../../helpers/imported.ts";
import { size } from "../../../helpers/long.ts";
import { startServe, type Served } from "../../../helpers/serve.ts";

/**
 * Several runs are needed, because each stops after too many consecutive failures. More than this means no progress.
 */
const RUNS_MAX = 20;
const ROWS = size(120, 2000);
/** Large enough that each kind of fault occurs several times. */
const SHARE = size(0.1, 0.03);

let service: Served;
let proxy: FaultyProxy;
beforeEach(async () => {
  service = await startServe();
  // Otherwise the throttle would hide a second survey to the same person.
  await service.run(["service", "throttle", "off", "--data", service.dataFile]);
  proxy = await startFaultyProxy({ target: service.baseUrl, seed: 7, share: SHARE });
});
afterEach(async () => {
  await proxy.stop();
  await service.stop();
});

it("when every kind of fault spoils the way, then each person has exactly one survey", async () => {
  const results = path.join(service.folder, "results.csv");
  const input = await firstRows(service.folder, "customers.csv", ROWS);
  const args = ["people", "import", input, "--send", "--ignore-column", "delay", "--results", results, "--quiet"];
  const env = { SURVEYCTL_BASE_URL: proxy.baseUrl, SURVEYCTL_SETTLE: "1" };
  const statuses = [(await service.run(args, { env })).status];
  while (statuses.at(-1) === 1 && statuses.length < RUNS_MAX)
    statuses.push((await service.run([...args, "--resume"], { env })).status);
  expect([0, 3]).toContain(statuses.at(-1));
  expect([...proxy.faults.keys()].toSorted()).toEqual(
    [
      "429",
      "500 in HTML before",
      "503 before",
      "HTML after",
      "cut after",
      "dropped after",
      "dropped before",
      "storm",
    ].toSorted(),
  );
  const rows = await readCsv(input);
  const before = await readCsv(results);
  expect(before.map(({ line }) => Number(line))).toEqual(rows.map((_, index) => index + 2));
  expect(before.filter(({ outcome }) => outcome === "failed" || outcome === "skipped")).toEqual([]);

  proxy.calm();
  expect(await service.run([...args, "--resume", "--retry-unknown"], { env })).toEqual({
    status: 0,
    signal: null,
    stdout: "",
    stderr: "",
  });
  expect(await peopleAt(service)).toEqual(rows.map(personKey).toSorted());
  const mailed = rows.map((row) => (row["channel"] === "sms" ? (row["phone_number"] ?? "") : personKey(row)));
  expect(await receivers(service, rows.length)).toEqual(mailed.toSorted());
  expect((await readCsv(results)).map(({ outcome }) => outcome)).toEqual(rows.map(() => "scheduled"));
});
