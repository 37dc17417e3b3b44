// Import speed compared with a bare loop posting the same bodies, and check speed compared with csv-parse.
import { readFileSync } from "node:fs";
import path from "node:path";
import { writeCustomers } from "./import-rows.js";
import { measure } from "./measured-process.js";
import { KEY, PROGRAM, startStub, temporaryFolder } from "./programs.js";
import { atLeast, atMost, median, show } from "./report.js";

const ROWS = 10_000;
const MANY = 1_000_000;
const LATENCY_MS = "5";
const AT_ONCE = "8";
const ROUNDS = 5;

const folder = temporaryFolder();
const bench = (name) => path.join(import.meta.dirname, name);
const files = {
  few: path.join(folder, "few.csv"),
  many: path.join(folder, "many.csv"),
  syncs: path.join(folder, "syncs"),
};
writeCustomers(files.few, ROWS);
writeCustomers(files.many, MANY);

const stub = await startStub("import-stub.js", LATENCY_MS);
const connection = { SURVEYCTL_BASE_URL: stub.url, SURVEYCTL_API_KEY: KEY };
let runs = 0;
/** Each run gets a new results file; with an existing one, only new rows would be sent. */
const imported = (env = {}) => {
  const results = path.join(folder, `results-${(runs += 1)}.csv`);
  const args = ["people", "import", files.few, "--no-send", "--yes", "--quiet", "--results", results];
  return measure(PROGRAM, [...args, "--concurrency", AT_ONCE], { ...connection, ...env });
};
const bare = () => measure(bench("bare-import.js"), [stub.url, String(ROWS), AT_ONCE]);
const counted = async (syncs) => {
  const measured = await imported({
    NODE_OPTIONS: `--import=${bench("counted-syncs.js")}`,
    SYNCS: syncs,
    SYNCS_FILE: files.syncs,
  });
  return { ...measured, syncs: Number(readFileSync(files.syncs, "utf8")) };
};

/** What the stub received since the last call. */
const posted = async () => (await fetch(`${stub.url}/posts`)).text();

/** Alternates, so that load from elsewhere affects both. Returns first / second. */
async function alternate(first, second) {
  const ratios = [];
  for (let round = 0; round < ROUNDS; round += 1) ratios.push((await first()).wallMs / (await second()).wallMs);
  return median(ratios);
}

await bare();
const wanted = await posted();
if (JSON.parse(wanted).posts !== ROWS) throw new Error(`the bare loop posted ${wanted}`);
const checked = async (running) => {
  const measured = await running();
  const came = await posted();
  if (came !== wanted) throw new Error(`${came} came where ${wanted} was wanted`);
  return measured;
};
atLeast(
  `import, ${LATENCY_MS} ms: rows a second / bare loop`,
  await alternate(
    () => checked(bare),
    () => checked(imported),
  ),
  0.8,
);

const safe = await counted("all");
const without = await counted("none");
show(`import, ${LATENCY_MS} ms: rows a second`, (ROWS * 1000) / safe.wallMs);
show(`import, ${LATENCY_MS} ms: rows a second without syncs`, (ROWS * 1000) / without.wallMs);
atMost("import: disk syncs / rows", safe.syncs / ROWS, 0.1);
await stub.stop();

const check = () => measure(PROGRAM, ["people", "import", files.many, "--no-send", "--dry-run", "--quiet"], connection);
const parse = () => measure(bench("bare-parse.js"), [files.many, String(MANY + 1)]);
// A third of the extra cost over csv-parse is the Map of known people.
atMost("check of 1,000,000 rows / csv-parse alone", await alternate(check, parse), 3);
