import { spawnSync } from "node:child_process";
import { copyFile, mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { systemClock } from "../../../src/runtime/clock.ts";
import { systemRandom } from "../../../src/runtime/random.ts";
import { openDataFile } from "../../../src/service/data-file/open-data-file.ts";
import { ensureProject } from "../../../src/service/first-project.ts";
import { shellProgram, bareEnvironment } from "../../helpers/run-cli.ts";

const NAMESPACE = ["unshare", "--mount", "--fork", "--kill-child", "sh", "-c"];
const [UNSHARE = "", ...NAMESPACE_FLAGS] = NAMESPACE;
const canMount =
  spawnSync(UNSHARE, [...NAMESPACE_FLAGS, `mount -t tmpfs -o size=1m none ${tmpdir()} && true`]).status === 0;

const state = { folder: "" };
beforeEach(async () => {
  state.folder = await mkdtemp(path.join(tmpdir(), "surveyctl-disk-"));
  await mkdir(path.join(state.folder, "disk"));
  const file = path.join(state.folder, "survey.db");
  const store = await openDataFile({ dataFile: file, clock: systemClock, random: systemRandom });
  await ensureProject(store);
  await store.close();
  await copyFile(file, path.join(state.folder, "disk/survey.db"));
});
afterEach(() => rm(state.folder, { recursive: true, force: true }));

function say(prepare: string, commands: readonly string[]): string[] {
  const script = [prepare, ...commands.map((one) => `surveyctl ${one} 2>&1 >/dev/null; echo " ($?)"`)].join("\n");
  const { stdout, stderr } = spawnSync(
    UNSHARE,
    [...NAMESPACE_FLAGS, `surveyctl() { ${shellProgram()} "$@"; }\n${script}`],
    {
      cwd: state.folder,
      env: bareEnvironment(state.folder),
      encoding: "utf8",
      timeout: 50_000,
    },
  );
  expect(stderr).toBe("");
  return stdout.replaceAll("\n (", " (").trim().split("\n");
}

describe.skipIf(!canMount)("a disk", () => {
  test("when it is read-only, then every command says so", () => {
    const commands = [
      "serve --data disk/survey.db --port 0",
      "service project list --data disk/survey.db",
      "service backup b.db --data disk/survey.db",
      "service move --to moved.db --data disk/survey.db",
      "service move --to disk/moved.db --data survey.db",
      "service restore survey.db --data disk/new.db",
    ];
    const file = "disk/survey.db";
    expect(say("mount --bind disk disk && mount -o remount,ro,bind disk", commands)).toEqual([
      ...Array.from({ length: 4 }, () => `error: ${file}: the file system is read-only (2)`),
      "error: disk/moved.db: the file system is read-only (2)",
      "error: cannot write disk/new.db: the file system is read-only (2)",
    ]);
  });

  test("when it is full, then every command says so, also of a service that runs on it", () => {
    const fill = "dd if=/dev/zero of=disk/ballast bs=1k 2>/dev/null || true";
    const full = `mount -t tmpfs -o size=1600k none disk && cp survey.db disk && { ${fill}; }`;
    const commands = [
      "serve --data disk/survey.db --port 0",
      "service project list --data disk/survey.db",
      "service backup disk/b.db --data survey.db",
      "service move --to disk/moved.db --data survey.db",
    ];
    expect(say(full, commands)).toEqual([
      "error: disk/survey.db: the disk is full (1)",
      "error: disk/survey.db: the disk is full (1)",
      "error: cannot write disk/b.db: the disk is full (2)",
      "error: disk/moved.db: the disk is full (1)",
    ]);
    const served = `mount -t tmpfs -o size=4m none disk && cp survey.db disk && touch served
      { exec ${shellProgram()} serve --data disk/survey.db --port 0 --quiet; } >served 2>/dev/null &
      trap "kill $!" EXIT
      for n in $(seq 200); do grep -q listening served && break; sleep 0.1; done
      ${fill}`;
    expect(
      say(served, ["service vacuum --data disk/survey.db", "service project add two --data disk/survey.db"]),
    ).toEqual([
      `error: ${path.join(state.folder, "disk/survey.db")}: the disk is full (1)`,
      `error: ${path.join(state.folder, "disk/survey.db")}: the disk is full (1)`,
    ]);
  });
});
