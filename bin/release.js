#!/usr/bin/env node
// Checks and builds a release. `npm run release -- --dry-run` prints what would be published; without it the package goes to
// npm, from the pipeline that a tag starts (.github/workflows/release.yml), which attaches the other files to the tag.
import { execFileSync, spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { parseArgs } from "node:util";

const root = path.join(import.meta.dirname, "..");
const { values } = parseArgs({ options: { "dry-run": { type: "boolean", default: false } } });
const { name, version } = JSON.parse(readFileSync(path.join(root, "package.json"), "utf8"));
const out = path.join(root, "out");
mkdirSync(out, { recursive: true });

const problems = [...checkTree(), ...checkChangelog()];
if (problems.length === 0) {
  const files = build();
  for (const file of files) console.log(`${sha256(file)}  ${path.basename(file)}`);
  if (values["dry-run"]) console.log(`would publish ${name} ${version} to npm, and attach these files to v${version}`);
  else execFileSync("npm", ["publish", files[0], "--provenance", "--access", "public"], { stdio: "inherit" });
}
for (const problem of problems) console.error(`error: ${problem}`);
process.exitCode = problems.length === 0 ? 0 : 1;

/** A release is what is committed. */
function checkTree() {
  const changed = run("git", "status", "--porcelain");
  const tag = run("git", "tag", "--list", `v${version}`);
  return [
    ...(changed === "" ? [] : [`there are changes that are not committed:\n${changed}`]),
    ...(tag === "" || process.env.GITHUB_REF_NAME === tag ? [] : [`version ${version} has been released`]),
  ];
}

function checkChangelog() {
  const changelog = readFileSync(path.join(root, "CHANGELOG.md"), "utf8");
  const heading = new RegExp(`^## ${version.replaceAll(".", String.raw`\.`)} - \\d{4}-\\d{2}-\\d{2}$`, "m");
  return [
    ...(heading.test(changelog) ? [] : [`CHANGELOG.md has no section "## ${version} - YYYY-MM-DD"`]),
    ...(/^## Unreleased/m.test(changelog) ? ["CHANGELOG.md has unreleased changes"] : []),
  ];
}

/** Builds each file twice: a release that cannot be made again is none. */
function build() {
  const files = [buildPackage(), path.join(out, "surveyctl"), path.join(out, `surveyctl_${version}-1_amd64.deb`)];
  npm("run", "deb");
  const first = files.map(sha256);
  buildPackage();
  npm("run", "deb");
  const differing = files.filter((file, at) => sha256(file) !== first[at]).map((file) => path.basename(file));
  if (differing.length > 0) throw new Error(`two builds differ: ${differing.join(", ")}`);
  return files;
}

function buildPackage() {
  npm("run", "build");
  run("npm", "pack", "--silent", "--ignore-scripts", "--pack-destination", out);
  return path.join(out, `${name}-${version}.tgz`);
}

function npm(...args) {
  run("npm", "--silent", ...args);
}

function run(program, ...args) {
  const { status, stdout, stderr } = spawnSync(program, args, { cwd: root, encoding: "utf8" });
  if (status !== 0) throw new Error(`${program} ${args.join(" ")}: ${stderr}${stdout}`);
  return stdout.trim();
}

function sha256(file) {
  return createHash("sha256").update(readFileSync(file)).digest("hex");
}
