// Simulates months of service from seeds; see docs/testing.md. `npm run simulate -- --seed 4711` replays one seed and
// prints every event.
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { availableParallelism, tmpdir } from "node:os";
import path from "node:path";
import { createInterface } from "node:readline";
import { parseArgs } from "node:util";
import { Client } from "pg";
import { bundleWorld } from "./bundle.js";

const DAYS = 30;
/** In a pipe, progress is printed after this many seeds. */
const TOLD_SEEDS = 100;
/** Enough to make the cost of starting a process negligible. */
const TASK_SEEDS = 25;
const { values } = parseArgs({
  options: {
    // `seed` prints one seed in full; otherwise `seeds` are run, starting with `from`.
    seed: { type: "string" },
    seeds: { type: "string" },
    from: { type: "string", default: "1" },
    days: { type: "string", default: String(DAYS) },
    // Kinds of faults, separated by commas; all by default.
    faults: { type: "string" },
    // URL of a PostgreSQL server. Worlds use databases that are created and dropped there.
    postgres: { type: "string" },
    // Name of a planted fault, or `all`. Searches `seeds` seeds, or only the one known to find it.
    planted: { type: "string" },
    // Prints the hash of each seed's trace.
    hashes: { type: "boolean", default: false },
    workers: { type: "string", default: String(Math.min(2, availableParallelism())) },
  },
});
const isOne = values.seed !== undefined;
const isHunt = values.planted === "all";
const seeds = isOne ? 1 : Number(values.seeds ?? 200);
const days = Number(values.days);
const shared = { days, faults: values.faults?.split(","), isTold: isOne };
const startedMs = Date.now();
const folder = mkdtempSync(path.join(tmpdir(), "surveyctl-simulation-"));
process.on("exit", () => rmSync(folder, { recursive: true, force: true }));
const world = await bundleWorld(folder);
const { file } = world;
const planted = world.planted.filter(({ isOfServer }) => isOfServer === (values.postgres !== undefined));

const results = [];
const failed = [];
const tasks = isHunt ? planted.map(toHunt) : splitSeeds();
await Promise.all(Array.from({ length: Number(values.workers) }, (_, worker) => work(worker)));
if (process.stderr.isTTY) process.stderr.write("\r\u001B[K");
if (isHunt) reportHunt();
else report();

function toHunt({ name, seed }) {
  const isKnown = values.seeds === undefined;
  const where = isKnown ? { from: seed, count: 1 } : { from: Number(values.from), count: seeds };
  return { ...shared, ...where, planted: name };
}

/** A task stops at its first failure, so the seeds are split into many tasks. */
function splitSeeds() {
  const from = Number(values.seed ?? values.from);
  return Array.from({ length: Math.ceil(seeds / TASK_SEEDS) }, (_, at) => ({
    ...shared,
    from: from + at * TASK_SEEDS,
    count: Math.min(TASK_SEEDS, seeds - at * TASK_SEEDS),
    planted: values.planted,
  }));
}

async function work(worker) {
  const database = values.postgres === undefined ? null : await makeDatabase(values.postgres, worker);
  for (let task = tasks.shift(); task !== undefined; task = tasks.shift())
    await runTask({ ...task, ...(database === null ? {} : { database: database.url }) });
  await database?.drop();
}

/** One per worker; each world empties it first. */
async function makeDatabase(server, worker) {
  const name = `simulated_${process.pid}_${worker}`;
  const ask = async (sql) => {
    const client = new Client({ connectionString: server });
    await client.connect();
    await client.query(sql).finally(() => client.end());
  };
  await ask(`CREATE DATABASE ${name}`);
  const url = new URL(server);
  url.pathname = name;
  return { url: url.href, drop: () => ask(`DROP DATABASE ${name} WITH (FORCE)`) };
}

/** In a separate process, because SQLite's library doesn't free all its memory. */
async function runTask(task) {
  // A seed creates many short-lived objects.
  const args = ["--max-semi-space-size=32", file, JSON.stringify(task)];
  const child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "inherit"] });
  createInterface({ input: child.stdout }).on("line", (line) => {
    if (!line.startsWith("{")) return console.log(line);
    note(JSON.parse(line));
  });
  const status = await new Promise((resolve) => child.on("close", resolve));
  if (status !== 0) throw new Error(`a worker ended with ${status}`);
}

function note(result) {
  results.push(result);
  if (result.violation !== null) {
    failed.push(result);
    if (!isHunt) tellFailure(result);
  }
  if (process.stderr.isTTY) process.stderr.write(`\r${progress()}`);
  else if (results.length % TOLD_SEEDS === 0) process.stderr.write(`${progress()}\n`);
}

function progress() {
  const done = results.length.toLocaleString("en");
  if (isHunt) return `simulated ${done} seeds, found ${failed.length} of ${planted.length} planted faults`;
  return `simulated ${done} of ${seeds.toLocaleString("en")} seeds, ${failed.length} failed`;
}

/** Prints failures immediately, because a long run continues with other seeds. */
function tellFailure({ seed, violation, last }) {
  if (process.stderr.isTTY) process.stderr.write("\r\u001B[K");
  console.log(`seed ${seed} failed: ${violation}`);
  for (const line of last) console.log(`  ${line}`);
  console.log(`replay: npm run simulate -- --seed ${seed}${flagsToRepeat()}`);
}

function report() {
  const seconds = ((Date.now() - startedMs) / 1000).toFixed(1);
  console.log(`${results.length} of ${seeds} seeds, ${days} days each, in ${seconds} s`);
  console.log(tellCounts());
  if (isOne) console.log(`trace ${results[0].hash}`);
  if (values.hashes) for (const { seed, hash } of results) console.log(`seed ${seed}: trace ${hash}`);
  if (failed.length > 0) process.exitCode = 1;
}

function tellCounts() {
  const counts = {};
  for (const result of results)
    for (const [kind, count] of Object.entries(result.counts)) counts[kind] = (counts[kind] ?? 0) + count;
  const kinds = Object.entries(counts).toSorted(([one], [other]) => (one < other ? -1 : 1));
  return kinds.map(([kind, count]) => `${count} ${kind}`).join(", ");
}

function flagsToRepeat() {
  return ["days", "faults", "postgres", "planted"]
    .filter((name) => values[name] !== undefined && values[name] !== String(DAYS))
    .map((name) => ` --${name} ${quote(values[name])}`)
    .join("");
}

function quote(text) {
  return /\s/.test(text) ? `"${text}"` : text;
}

/** If a planted fault isn't found, runs without failures prove nothing. */
function reportHunt() {
  for (const { name } of planted) {
    const found = failed.find((result) => result.planted === name);
    if (found === undefined) process.exitCode = 1;
    console.log(found === undefined ? `missed: ${name}` : `seed ${found.seed}: ${name}: ${found.violation}`);
  }
}
