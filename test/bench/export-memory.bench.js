// Exporting a million rows stays within a memory limit and close to exporting 20,000.
import path from "node:path";
import { measure } from "./measured-process.js";
import { KEY, PROGRAM, startStub, temporaryFolder } from "./programs.js";
import { atMost } from "./report.js";

const out = path.join(temporaryFolder(), "out.csv");
const CASES = [
  { name: "responses, times ignored", mode: "walk", args: ["responses", "export"] },
  { name: "responses, in windows", mode: "times", args: ["responses", "export"] },
  { name: "responses --flatten", mode: "times", args: ["responses", "export", "--flatten"] },
  { name: "responses -o parquet", mode: "times", args: ["responses", "export", "-o", "parquet"] },
  { name: "people, in windows", mode: "times", args: ["people", "export"] },
];

async function peakOf(rows, mode, args) {
  const stub = await startStub("export-stub.js", String(rows), "0", mode);
  const env = { SURVEYCTL_BASE_URL: stub.url, SURVEYCTL_API_KEY: KEY };
  const { peakMb } = await measure(PROGRAM, [...args, "--quiet", "--out", out], env);
  await stub.stop();
  return peakMb;
}

for (const { name, mode, args } of CASES) {
  const few = await peakOf(20_000, mode, args);
  const many = await peakOf(1_000_000, mode, args);
  atMost(`1,000,000 ${name}: peak MB`, many, 250);
  atMost(`1,000,000 ${name}: peak / 20,000`, many / few, 1.6);
}
