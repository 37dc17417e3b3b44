// Runs the tests with Vitest and ends with one plain line, `N passed, N failed`. Arguments are Vitest's: with any, only
// what they name runs. `--long` is our own: fuzz, kills and soaks at their full size (`size` in test/helpers/long.ts).
import { spawnSync } from "node:child_process";
import { chmodSync, mkdtempSync, readFileSync, rmSync, statfsSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";

/** A run of everything that finds fewer has lost some. Raise it when tests are added. */
const TESTS_MIN = 5000;

const MEMORY = "/dev/shm";
const MEMORY_MIN_BYTES = 2 * 1024 ** 3;

const root = path.join(import.meta.dirname, "..");
const args = process.argv.slice(2).filter((arg) => arg !== "--long");
const isLong = process.argv.includes("--long");
const folder = mkdtempSync(path.join(tmpdir(), "surveyctl-tests-"));
const scratch = [];
const report = path.join(folder, "report.json");

// Most tests wait for programs and timers of their own, so more workers than processors are busy ones. A worker loads a
// module once for all its files. Room for twice as many young objects saves a tenth of its processor time.
const limits = [
  "--maxWorkers=4",
  "--no-isolate",
  `--testTimeout=${isLong ? 1_800_000 : 60_000}`,
  "--hookTimeout=60000",
  "--execArgv=--max-semi-space-size=32",
];
const reporters = ["--reporter=default", "--reporter=json", `--outputFile.json=${report}`];
const vitest = spawnSync(
  process.execPath,
  ["node_modules/vitest/vitest.mjs", "run", ...limits, ...reporters, ...args],
  {
    cwd: root,
    stdio: "inherit",
    env: { ...process.env, ...(isLong ? { SURVEYCTL_TEST_LONG: "1" } : inMemory()) },
  },
);
const { passed, failed } = count();
for (const used of [folder, ...scratch]) rmSync(used, { recursive: true, force: true });
const isShort = args.length === 0 && passed < TESTS_MIN;
if (isShort) console.log(`only ${passed} tests passed; at least ${TESTS_MIN} are expected (test/run.js)`);
console.log(`${passed} passed, ${failed + (isShort ? 1 : 0)} failed`);
process.exitCode = failed > 0 || isShort ? 1 : 0;

/** The short run's files need no disk, where that saves a twentieth of the time and every wait for a sync. */
function inMemory() {
  try {
    const { bavail, bsize } = statfsSync(MEMORY);
    if (bavail * bsize < MEMORY_MIN_BYTES) return {};
    scratch.push(mkdtempSync(path.join(MEMORY, "surveyctl-tests-")));
    // PostgreSQL runs as a user of its own, and has its folder in this one.
    chmodSync(scratch[0], 0o711);
    // Tests write programs and run them, which not every such folder allows.
    const probe = path.join(scratch[0], "probe");
    writeFileSync(probe, "#!/bin/sh\n", { mode: 0o755 });
    return spawnSync(probe).status === 0 ? { TMPDIR: scratch[0] } : {};
  } catch {
    return {};
  }
}

/** A file that fails before its first test counts as one failure, as does a report that was not written. */
function count() {
  try {
    const { testResults, numPassedTests, numFailedTests } = JSON.parse(readFileSync(report, "utf8"));
    const broken = testResults.filter(
      ({ status, assertionResults }) => status === "failed" && assertionResults.length === 0,
    );
    // An error outside of any test fails the run as well.
    return { passed: numPassedTests, failed: numFailedTests + broken.length || (vitest.status === 0 ? 0 : 1) };
  } catch {
    return { passed: 0, failed: 1 };
  }
}
