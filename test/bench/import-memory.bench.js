// Memory for a million imported rows.
import path from "node:path";
import { writeCustomers } from "./import-rows.js";
import { measure } from "./measured-process.js";
import { KEY, PROGRAM, startStub, temporaryFolder } from "./programs.js";
import { atMost, show } from "./report.js";

const folder = temporaryFolder();

async function peakOf(rows, ...flags) {
  const file = path.join(folder, `${rows}.csv`);
  writeCustomers(file, rows);
  const stub = await startStub("import-stub.js");
  const env = { SURVEYCTL_BASE_URL: stub.url, SURVEYCTL_API_KEY: KEY };
  const { peakMb } = await measure(PROGRAM, ["people", "import", file, "--no-send", "--yes", "--quiet", ...flags], env);
  await stub.stop();
  return peakMb;
}

const few = await peakOf(10_000);
const many = await peakOf(1_000_000);
atMost("import of 1,000,000 rows: peak MB", many, 400);
show("import of 1,000,000 rows: peak / 10,000", many / few);

// Mostly the Map of known people, which is freed before the first row is sent.
const fewChecked = await peakOf(10_000, "--dry-run");
const manyChecked = await peakOf(1_000_000, "--dry-run");
atMost("check of 1,000,000 rows: peak MB", manyChecked, 400);
show("check of 1,000,000 rows: peak / 10,000", manyChecked / fewChecked);
