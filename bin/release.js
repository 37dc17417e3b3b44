#!/usr/bin/env node
// Checks and builds a release. `npm run release -- --dry-run` shows what would be published. Without it the package
// goes to npm, from the pipeline started by a tag (.github/workflows/release.yml), which attaches the other files to
// the tag.
import { execFileSync, spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { parseArgs } from "node:util";

const root = path.join(import.meta.dirname, "..");
const { values } = parseArgs({ options: { "dry-run": { type: "boolean", default: false } } });
const isDryRun = values["dry-run"];
const { name, version, repository } = JSON.parse(text("package.json"));
const tag = `v${version}`;
const [heading, ...notes] = (text("CHANGELOG.md").split(/^## /m)[1] ?? "").trim().split("\n");
const out = path.join(root, "out");
const files = {
  package: path.join(out, `${name}-${version}.tgz`),
  executable: path.join(out, "surveyctl"),
  deb: path.join(out, `surveyctl_${version}-1_amd64.deb`),
  notes: path.join(out, "notes.md"),
};

/** Tools besides Node, npm and git, with their Debian packages. */
const TOOLS = { "dpkg-deb": "dpkg", lintian: "lintian", "systemd-analyze": "systemd" };

const problems = [...checkTree(), ...checkVersion(), ...checkTools(), ...(isDryRun ? [] : checkPublishing())];
for (const problem of problems) console.error(`error: ${problem}`);
if (problems.length > 0) process.exit(1);

step("builds the package, the executable and the Debian package, twice", buildTwice);
step("tries the Debian package: lintian, and systemd with its unit", tryDeb);
step("tries what is in the package, the lines of the documentation and the files of docs/deploy", () =>
  test("npx", ["vitest", "run", "--testTimeout=600000", "test/deploy"], { SURVEYCTL_TEST_LONG: "1" }),
);
step("has the acceptance stories told by the executable", () =>
  test("npx", ["vitest", "run", "--maxWorkers=4", "--testTimeout=120000", "test/acceptance"], {
    SURVEYCTL_BIN: files.executable,
  }),
);
for (const node of ["20", "22", "24", "26"])
  step(`has them told by the package on Node ${node}`, () => test("bash", [".ci/test-package", node]));
publish();

/** A release is built only from committed files. */
function checkTree() {
  const changed = run("git", ["status", "--porcelain"]);
  return changed === "" ? [] : [`there are changes that are not committed:\n${changed}`];
}

/** The version must be the same everywhere and not released before. */
function checkVersion() {
  const isReleased = run("git", ["tag", "--list", tag]) !== "";
  const isHere = run("git", ["tag", "--points-at", "HEAD"]).split("\n").includes(tag);
  const locked = JSON.parse(text("package-lock.json"));
  return [
    ...(isReleased && !isHere ? [`version ${version} has been released: ${tag} is another commit`] : []),
    ...(isDryRun || isHere ? [] : [`this commit has no tag ${tag}`]),
    ...(locked.version === version ? [] : [`package-lock.json has version ${locked.version}, package.json ${version}`]),
    ...(heading.replace(/\d{4}-\d{2}-\d{2}$/, "DATE") === `${version} - DATE`
      ? []
      : [`CHANGELOG.md does not begin with a section "## ${version} - YYYY-MM-DD"`]),
  ];
}

function checkTools() {
  const missing = Object.entries(TOOLS).filter(([tool]) => spawnSync("sh", ["-c", `command -v ${tool}`]).status !== 0);
  return missing.map(([tool, where]) => `${tool} is missing: apt-get install ${where}`);
}

/** npm's provenance names the repository that the package was built from. */
function checkPublishing() {
  return repository === undefined ? ['package.json names no "repository", which provenance is checked against'] : [];
}

/** A release must be reproducible. */
function buildTwice() {
  mkdirSync(out, { recursive: true });
  const [first, second] = [build(), build()];
  const differing = first.filter((line, at) => line !== second[at]);
  if (differing.length > 0) throw new Error(`two builds differ:\n${differing.join("\n")}`);
}

/** Builds the three files. Returns a line with digest and name for each. */
function build() {
  run("npm", ["run", "--silent", "deb"]);
  run("npm", ["pack", "--silent", "--ignore-scripts", "--pack-destination", out]);
  return [files.package, files.executable, files.deb].map((file) => `${sha256(file)}  ${path.basename(file)}`);
}

function tryDeb() {
  run("lintian", ["--fail-on", "error", files.deb]);
  const folder = mkdtempSync(path.join(tmpdir(), "surveyctl-release-"));
  try {
    run("dpkg-deb", ["--extract", files.deb, folder]);
    const unit = path.join(folder, "lib/systemd/system/surveyctl.service");
    writeFileSync(unit, readFileSync(unit, "utf8").replaceAll("/usr/bin/surveyctl", files.executable));
    run("systemd-analyze", ["verify", unit]);
    run("systemd-analyze", ["security", "--offline=true", "--threshold=30", "--no-pager", unit]);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

function publish() {
  writeFileSync(files.notes, `${notes.join("\n").trim()}\n`);
  const attached = [files.package, files.executable, files.deb];
  const [packed] = JSON.parse(run("npm", ["pack", "--json", "--dry-run", "--ignore-scripts"]));
  const list = attached.map((file) => `${sha256(file)}  ${path.basename(file)}  ${megabytes(statSync(file).size)}`);
  console.log(`\n${list.join("\n")}\n`);
  const inPackage = `${packed.entryCount} files, ${megabytes(packed.unpackedSize)} unpacked`;
  if (isDryRun) {
    console.log(`would publish ${name} ${version} to npm (${inPackage}), with provenance`);
    console.log(`would attach these files to ${tag}, with ${notes.length} lines of CHANGELOG.md as its notes`);
    for (const problem of checkPublishing()) console.log(`note: before that: ${problem}`);
  } else execFileSync("npm", ["publish", files.package, "--provenance", "--access", "public"], { stdio: "inherit" });
}

/** Prints the title and runs the step; a failure ends the release. */
function step(title, work) {
  console.log(`== ${title}`);
  try {
    work();
  } catch (error) {
    console.error(`error: ${error.message}`);
    process.exit(1);
  }
}

/** Runs tests and prints how many passed. */
function test(program, args, env = {}) {
  const said = run(program, args, { ...env, NO_COLOR: "1" });
  for (const [line] of said.matchAll(/^\s+Tests .*$/gm)) console.log(line);
}

/** Returns the program's stdout. If it fails, throws with all its output. */
function run(program, args, env = {}) {
  const ran = spawnSync(program, args, {
    cwd: root,
    encoding: "utf8",
    env: { ...process.env, ...env },
    maxBuffer: 2 ** 26,
  });
  if (ran.status !== 0) throw new Error(`${program} ${args.join(" ")} failed:\n${ran.stdout}${ran.stderr}`);
  return ran.stdout.trim();
}

function text(file) {
  return readFileSync(path.join(root, file), "utf8");
}

function megabytes(bytes) {
  return `${(bytes / 1e6).toFixed(2)} MB`;
}

function sha256(file) {
  return createHash("sha256").update(readFileSync(file)).digest("hex");
}
