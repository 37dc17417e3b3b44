// Simulates the service for whole months from seeds; see docs/testing.md.
// `npm run simulate -- --seed 4711` replays one seed and prints everything that happens.
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { availableParallelism, tmpdir } from "node:os";
import path from "node:path";
import { createInterface } from "node:readline";
import { parseArgs } from "node:util";
import { bundleWorld } from "./bundle.js";

const { values } = parseArgs({
  options: {
    seed: { type: "string" },
    seeds: { type: "string", default: "200" },
    from: { type: "string", default: "1" },
    days: { type: "string", default: "30" },
    faults: { type: "string" },
    planted: { type: "string" },
    workers: { type: "string", default: String(Math.min(2, availableParallelism())) },
  },
});
const isOne = values.seed !== undefined;
const from = Number(values.seed ?? values.from);
const seeds = isOne ? 1 : Number(values.seeds);
const workers = Math.min(seeds, Number(values.workers));
const days = Number(values.days);

const folder = mkdtempSync(path.join(tmpdir(), "surveyctl-simulation-"));
process.on("exit", () => rmSync(folder, { recursive: true, force: true }));
const startedMs = Date.now();
const state = { done: 0, failure: null, counts: {}, hash: "" };
const program = await bundleWorld(folder);
const running = Array.from({ length: workers }, (_, at) => startWorker(at));
await Promise.all(running.map(({ ended }) => ended));
report();

/** Every so many-th seed is this worker's. */
function startWorker(at) {
  const task = {
    from: from + at,
    count: Math.ceil((seeds - at) / workers),
    step: workers,
    days,
    faults: values.faults?.split(","),
    planted: values.planted,
    isTold: isOne,
    stopsEarly: true,
  };
  const child = spawn(process.execPath, [program, JSON.stringify(task)], { stdio: ["ignore", "pipe", "inherit"] });
  const ended = new Promise((resolve) => {
    child.on("close", (code) => {
      if (code !== 0 && state.failure === null)
        state.failure = { seed: null, violation: `a worker ended with ${code}`, last: [] };
      resolve();
    });
  });
  createInterface({ input: child.stdout }).on("line", (line) => {
    if (line.startsWith("{")) take(JSON.parse(line));
    else console.log(line);
  });
  return { child, ended };
}

function take(result) {
  state.done += 1;
  state.hash = result.hash;
  for (const [kind, count] of Object.entries(result.counts)) state.counts[kind] = (state.counts[kind] ?? 0) + count;
  const isFirst = state.failure === null || result.seed < state.failure.seed;
  if (result.violation !== null && isFirst) state.failure = result;
  if (process.stderr.isTTY) process.stderr.write(`\rsimulated ${state.done} of ${seeds} seeds`);
}

function report() {
  if (process.stderr.isTTY) process.stderr.write("\r\u001B[K");
  const seconds = ((Date.now() - startedMs) / 1000).toFixed(1);
  console.log(`${state.done} of ${seeds} seeds, ${days} days each, in ${seconds} s`);
  console.log(
    Object.entries(state.counts)
      .map(([kind, count]) => `${count} ${kind}`)
      .join(", "),
  );
  const { failure } = state;
  if (isOne) console.log(`trace ${state.hash}`);
  if (failure === null) return;
  process.exitCode = 1;
  console.log(`seed ${failure.seed} failed: ${failure.violation}`);
  for (const line of failure.last) console.log(`  ${line}`);
  console.log(`replay: npm run simulate -- --seed ${failure.seed}${repeatedFlags()}`);
}

/** What the replay needs besides the seed. */
function repeatedFlags() {
  return ["days", "faults", "planted"]
    .filter((name) => values[name] !== undefined && !(name === "days" && days === 30))
    .map((name) => ` --${name} ${/\s/.test(values[name]) ? `"${values[name]}"` : values[name]}`)
    .join("");
}
