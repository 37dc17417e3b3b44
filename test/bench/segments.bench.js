// Segments of all responses cost about as much as an export, in constant memory.
import path from "node:path";
import { measure } from "./measured-process.js";
import { KEY, PROGRAM, startStub, temporaryFolder } from "./programs.js";
import { atMost, median } from "./report.js";

const isLong = process.argv.includes("--long");
const ROWS = isLong ? 1_000_000 : 100_000;
const TIMES = isLong ? 1 : 5;
const out = path.join(temporaryFolder(), "out.csv");

for (const mode of ["walk", "times"]) {
  const stub = await startStub("export-stub.js", String(ROWS), "0", mode);
  const env = { SURVEYCTL_BASE_URL: stub.url, SURVEYCTL_API_KEY: KEY };
  const pairs = [];
  // Alternates, so that load from elsewhere affects both.
  for (let time = 0; time < TIMES; time += 1) {
    const segmented = await measure(PROGRAM, ["metrics", "--segment", "plan,region,seats", "--quiet"], env);
    pairs.push([segmented, await measure(PROGRAM, ["responses", "export", "--quiet", "--out", out], env)]);
  }
  const name = `${ROWS.toLocaleString("en")} segmented, ${mode === "walk" ? "times ignored" : "in windows"}`;
  const ratio = (what) => median(pairs.map(([one, other]) => one[what] / other[what]));
  atMost(`${name}: peak MB`, Math.max(...pairs.map(([{ peakMb }]) => peakMb)), 200);
  atMost(`${name}: wall / export`, ratio("wallMs"), 1.5);
  atMost(`${name}: processor / export`, ratio("cpuMs"), 1.5);
  await stub.stop();
}
