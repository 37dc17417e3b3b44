import { cpSync, mkdirSync, writeFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { ROOT, runTool } from "./deploy-files.ts";

const state = { folder: "" };
const write = (name: string, text: string): void => writeFileSync(path.join(state.folder, name), text);

function git(...args: readonly string[]): void {
  const author = ["-c", "user.name=Ada", "-c", "user.email=ada@example.com", "-c", "commit.gpgsign=false"];
  const { status, said } = runTool("git", [...author, ...args], state.folder);
  if (status !== 0) throw new Error(said);
}

function commit(): void {
  git("add", "--all");
  git("commit", "--quiet", "--allow-empty", "--message", "A change");
}

function refusals(...args: readonly string[]): string[] {
  const { status, said } = runTool(process.execPath, ["bin/release.js", ...args], state.folder);
  expect(status).toBe(1);
  return said.split("\n").filter((line) => line !== "" && !line.includes(" is missing: apt-get install "));
}

beforeEach(async () => {
  state.folder = await mkdtemp(path.join(tmpdir(), "surveyctl-release-"));
  mkdirSync(path.join(state.folder, "bin"));
  cpSync(path.join(ROOT, "bin/release.js"), path.join(state.folder, "bin/release.js"));
  write("package.json", '{"name":"surveyctl","version":"1.2.0","type":"module"}\n');
  write("package-lock.json", '{"version":"1.2.0"}\n');
  write("CHANGELOG.md", "# Changelog\n\n## 1.2.0 - 2026-11-20\n\nNew.\n");
  git("init", "--quiet");
  commit();
});
afterEach(() => rm(state.folder, { recursive: true, force: true }));

it("refuses what is not committed", () => {
  write("new.txt", "");
  expect(refusals("--dry-run")).toEqual(["error: there are changes that are not committed:", "?? new.txt"]);
});

it("refuses a version that has no section in the changelog, or that is not everywhere the same", () => {
  write("CHANGELOG.md", "# Changelog\n\n## Unreleased\n\nNewer.\n\n## 1.2.0 - 2026-11-20\n\nNew.\n");
  write("package-lock.json", '{"version":"1.1.0"}\n');
  commit();
  expect(refusals("--dry-run")).toEqual([
    "error: package-lock.json has version 1.1.0, package.json 1.2.0",
    'error: CHANGELOG.md does not begin with a section "## 1.2.0 - YYYY-MM-DD"',
  ]);
});

it("refuses a version that another commit has released", () => {
  git("tag", "v1.2.0");
  commit();
  expect(refusals("--dry-run")).toEqual(["error: version 1.2.0 has been released: v1.2.0 is another commit"]);
});

it("publishes only from a commit that has the version's tag, and a package that names its repository", () => {
  git("tag", "v1.3.0");
  expect(refusals()).toEqual([
    "error: this commit has no tag v1.2.0",
    'error: package.json names no "repository", which provenance is checked against',
  ]);
});
