import { mkdirSync, readFileSync, readdirSync, symlinkSync, writeFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, test } from "vitest";
import { spawnSync } from "node:child_process";
import { ownFile } from "../../../src/service/store/sqlite/engine/file-owner.ts";
import { openFixture } from "../domain/fixture.ts";
import { ENGINES, newDataFile } from "./engines.ts";

/** A process id that was in use a moment ago and is not any more. */
function deadPid(): number {
  return spawnSync(process.execPath, ["--version"]).pid;
}

function leaveRecord(file: string, owner: object): void {
  writeFileSync(`${file}.owner`, JSON.stringify({ pid: process.pid, started: null, opening: "theirs", ...owner }));
}

test("when a file is owned, then a second owner is refused with the first one's process id, also by another name of the file", () => {
  const file = newDataFile();
  writeFileSync(file, "");
  symlinkSync(file, `${file}.link`);
  const ownership = ownFile(file);
  const busy = expect.objectContaining({ name: "StoreBusyError", pid: process.pid }) as Error;
  expect(() => ownFile(file)).toThrow(busy);
  expect(() => ownFile(`${file}.link`)).toThrow(busy);
  ownership.release();
  ownFile(file).release();
  expect(readdirSync(path.dirname(file))).toEqual(["survey.db", "survey.db.link"]);
});

test.each<[string, () => object]>([
  ["a process that is dead", () => ({ pid: deadPid() })],
  ["a namesake of this process, as in a container that was started again", () => ({ pid: process.pid })],
  ["a process whose id another has now", () => ({ pid: process.ppid, started: "1" })],
])("when the record is of %s, then the file is taken over and the lock it left goes", (_, owner) => {
  const file = newDataFile();
  leaveRecord(file, owner());
  mkdirSync(`${file}.lock`);
  const ownership = ownFile(file);
  expect(JSON.parse(readFileSync(`${file}.owner`, "utf8"))).toMatchObject({ pid: process.pid });
  expect(readdirSync(path.dirname(file))).toEqual(["survey.db.owner"]);
  ownership.release();
});

test("when the record cannot be read, then nobody is known to be alive and the file is taken over", () => {
  const file = newDataFile();
  writeFileSync(`${file}.owner`, "{ torn");
  ownFile(file).release();
  expect(readdirSync(path.dirname(file))).toEqual([]);
});

test("when the caller knows the owner alive, then its word counts", () => {
  const file = newDataFile();
  leaveRecord(file, { pid: 12 });
  expect(() => ownFile(file, () => true)).toThrow(
    expect.objectContaining({ name: "StoreBusyError", pid: 12 }) as Error,
  );
  ownFile(file, ({ opening }) => opening !== "theirs").release();
});

describe.each(ENGINES)("%s", (engine) => {
  test("when a store is open, then opening it again is refused and the first goes on", async () => {
    const file = newDataFile();
    const first = await openFixture({ file, engine });
    await expect(openFixture({ file, engine })).rejects.toMatchObject({
      name: "StoreBusyError",
      file,
      pid: process.pid,
    });
    expect(await first.read(async (tx) => (await tx.projects.list()).length)).toBe(1);
    await first.store.close();
    await (await openFixture({ file, engine })).store.close();
  });
});
