// Runs the tests with Vitest and ends with one plain line, `N passed, N failed`. Arguments are Vitest's: with any, only
// what they name runs. Ours are `--long`: fuzz, kills and soaks at their full size (`size` in test/helpers/long.ts); and
// `--postgres`: only the second run, which has a PostgreSQL in place of data files. The pipeline and `--long` do both.
import { spawnSync } from "node:child_process";
import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync, statfsSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";

/** What a service does on either engine: the end of a file's name. Single tests that are not say `onPostgres`. */
const ON_EACH_ENGINE = ".engines.test.ts";
/** Tests about a server, which bring their own. The second folder takes long, and is never part of the run on files. */
const SERVER_ONLY = "test/service/store/postgres";
const OUTAGES = "test/service/processes/postgres";

const MEMORY = "/dev/shm";
const MEMORY_MIN_BYTES = 2 * 1024 ** 3;

const root = path.join(import.meta.dirname, "..");
const testFiles = readdirSync(import.meta.dirname, { recursive: true })
  .filter((name) => /\.test\.(?:ts|js)$/.test(name))
  .map((name) => path.join("test", name));
const OWN = new Set(["--long", "--postgres"]);
const args = process.argv.slice(2).filter((arg) => !OWN.has(arg));
const isLong = process.argv.includes("--long");
const isServerOnly = process.argv.includes("--postgres");
const isBoth = args.length === 0 && !isServerOnly && (isLong || process.env.SURVEYCTL_TEST_POSTGRES === "required");

const scratch = [];
const total = { passed: 0, failed: 0 };
/** What whoever reads the end of a run must know: lines. */
const troubles = [];
if (!isServerOnly) {
  const left = args.length > 0 ? [] : isBoth ? [SERVER_ONLY, OUTAGES] : [OUTAGES];
  const without = left.map((folder) => `--exclude=${folder}/**`);
  const ran = run([...without, ...args], {});
  if (args.length === 0) {
    const wanted = testFiles.filter((file) => !left.some((folder) => file.startsWith(`${folder}/`)));
    demand("on data files", ran, wanted);
    if (!isBoth) tellWhatDidNotRun(ran);
  }
}
if (isServerOnly || isBoth) {
  console.log("== the tests of the service, on PostgreSQL");
  const names = [ON_EACH_ENGINE, SERVER_ONLY, OUTAGES];
  const ran = run(args.length === 0 ? names : args, { SURVEYCTL_TEST_ENGINE: "postgres" });
  if (args.length === 0) {
    const wanted = testFiles.filter((file) => names.some((name) => file.includes(name)));
    demand("on PostgreSQL", ran, wanted);
    console.log("-- only on data files:");
    for (const name of ran.skipped) console.log(`--   ${name}`);
  }
}
// A server of the tests' own may still be ending.
for (const used of scratch) rmSync(used, { recursive: true, force: true, maxRetries: 20, retryDelay: 200 });
for (const line of troubles) console.log(line);
console.log(`${total.passed} passed, ${total.failed} failed`);
process.exitCode = total.failed > 0 ? 1 : 0;

/** One Vitest; adds to the total. */
function run(vitestArgs, env) {
  const folder = mkdtempSync(path.join(tmpdir(), "surveyctl-tests-"));
  scratch.push(folder);
  const report = path.join(folder, "report.json");
  const reporters = ["--reporter=default", "--reporter=json", `--outputFile.json=${report}`];
  // Whoever runs everything means every test.
  const whole = args.length === 0 ? ["--allowOnly=false"] : [];
  const { status } = spawnSync(
    process.execPath,
    ["node_modules/vitest/vitest.mjs", "run", ...reporters, ...whole, ...vitestArgs],
    {
      cwd: root,
      stdio: "inherit",
      env: { ...process.env, ...(isLong ? { SURVEYCTL_TEST_LONG: "1" } : inMemory()), ...env },
    },
  );
  const ran = count(report, status);
  total.passed += ran.passed;
  total.failed += ran.failed;
  troubles.push(...ran.told);
  return ran;
}

/** A file that was not run is a failure: Vitest only fails a file that it finds and that has no tests. */
function demand(where, { files }, wanted) {
  const lost = wanted.filter((file) => !files.has(file));
  for (const file of lost) console.log(`-- not run ${where}: ${file}`);
  total.failed += lost.length;
}

/** Says it where whoever reads the end of a run finds it. */
function tellWhatDidNotRun({ skipped }) {
  const lost = skipped.filter((name) => name.startsWith(SERVER_ONLY));
  if (lost.length > 0) console.log(`-- PostgreSQL is not installed: ${lost.length} tests were skipped`);
  console.log("-- not run on PostgreSQL: npm run test:postgres does");
}

/** The short run's files need no disk, where that saves a twentieth of the time and every wait for a sync. */
function inMemory() {
  try {
    const { bavail, bsize } = statfsSync(MEMORY);
    if (bavail * bsize < MEMORY_MIN_BYTES) return {};
    const folder = mkdtempSync(path.join(MEMORY, "surveyctl-tests-"));
    scratch.push(folder);
    // PostgreSQL runs as a user of its own, and has its folder in this one.
    chmodSync(folder, 0o711);
    // Tests write programs and run them, which not every such folder allows.
    const probe = path.join(folder, "probe");
    writeFileSync(probe, "#!/bin/sh\n", { mode: 0o755 });
    return spawnSync(probe).status === 0 ? { TMPDIR: folder } : {};
  } catch {
    return {};
  }
}

/** A file that fails outside of its tests counts as one failure, as does a report that was not written. */
function count(report, status) {
  try {
    const { testResults, numPassedTests, numFailedTests } = JSON.parse(readFileSync(report, "utf8"));
    const broken = testResults.filter(
      (file) => file.status === "failed" && !file.assertionResults.some((one) => one.status === "failed"),
    );
    const tests = testResults.flatMap(({ name, assertionResults }) =>
      assertionResults.map((one) => ({ ...one, fullName: `${path.relative(root, name)}: ${one.fullName}` })),
    );
    const skipped = tests.filter((one) => one.status === "pending" || one.status === "skipped");
    // An error outside of any test fails the run as well.
    const failed = numFailedTests + broken.length || (status === 0 ? 0 : 1);
    const told = [
      ...broken.map(({ name, message }) => trouble(path.relative(root, name), message || "outside of its tests")),
      ...tests
        .filter((one) => one.status === "failed")
        .map(({ fullName, failureMessages }) => trouble(fullName, failureMessages[0])),
    ];
    const files = new Set(testResults.map(({ name }) => path.relative(root, name)));
    return { files, passed: numPassedTests, failed, skipped: skipped.map(({ fullName }) => fullName), told };
  } catch {
    return { files: new Set(), passed: 0, failed: 1, skipped: [], told: [] };
  }
}

function trouble(name, message) {
  return `-- failed: ${name}: ${message.split("\n", 1)[0]}`;
}
