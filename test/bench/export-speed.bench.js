// Export speed compared with a bare loop, and with a sequential client over a slow connection.
import { readFileSync, statSync } from "node:fs";
import path from "node:path";
import { measure } from "./measured-process.js";
import { KEY, PROGRAM, startStub, temporaryFolder } from "./programs.js";
import { atLeast, atMost, median } from "./report.js";

const ROWS = 100_000;
const BARE = path.join(import.meta.dirname, "bare-export.js");
const folder = temporaryFolder();
const files = { ours: path.join(folder, "ours.csv"), bare: path.join(folder, "bare.csv") };

const exported = (url, ...flags) =>
  measure(PROGRAM, ["responses", "export", "--quiet", "--out", files.ours, ...flags], {
    SURVEYCTL_BASE_URL: url,
    SURVEYCTL_API_KEY: KEY,
  });
const bare = (url, atOnce) => measure(BARE, [url, files.bare, String(atOnce)]);

/** Alternates, so that load from elsewhere affects both. */
async function alternate(times, first, second) {
  const pairs = [];
  for (let time = 0; time < times; time += 1) pairs.push([await first(), await second()]);
  return (what) => median(pairs.map(([one, other]) => one[what] / other[what]));
}

function checkFiles() {
  if (!readFileSync(files.ours).equals(readFileSync(files.bare))) throw new Error("the two files differ");
  if (statSync(files.ours).size < ROWS * 100) throw new Error("rows are missing");
}

for (const mode of ["walk", "times"]) {
  const stub = await startStub("export-stub.js", String(ROWS), "0", mode);
  const name = mode === "walk" ? "times ignored" : "in windows";
  await bare(stub.url, 1);
  const ratio = await alternate(
    11,
    () => exported(stub.url),
    () => bare(stub.url, 1),
  );
  checkFiles();
  atMost(`export, no latency, ${name}: processor / bare`, ratio("cpuMs"), 1.5);
  atMost(`export, no latency, ${name}: wall / bare`, ratio("wallMs"), 1.2);
  await stub.stop();
}

for (const mode of ["walk", "times"]) {
  const stub = await startStub("export-stub.js", String(ROWS), "40", mode);
  const name = mode === "walk" ? "times ignored" : "in windows";
  const ours = await exported(stub.url, "--concurrency", "8");
  const equal = await bare(stub.url, 8);
  checkFiles();
  atMost(`export, 40 ms, ${name}: wall / bare at equal concurrency`, ours.wallMs / equal.wallMs, 1.3);
  if (mode === "walk")
    atLeast("export, 40 ms: sequential loop / wall", (await bare(stub.url, 1)).wallMs / ours.wallMs, 4);
  await stub.stop();
}
