import { randomUUID } from "node:crypto";
import { spawn, spawnSync } from "node:child_process";
import {
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import path from "node:path";
import { describe, expect, test } from "vitest";
import { systemClock } from "../../../../../src/runtime/clock.ts";
import { ownFile, type Ownership } from "../../../../../src/service/store/sqlite/engine/file-owner.ts";
import { size } from "../../../../helpers/long.ts";
import { openFixture } from "../../../domain/fixture.ts";
import { newDataFile } from "../../engines.ts";

const own = (file: string): Promise<Ownership> => ownFile(file, systemClock);
const busy = expect.objectContaining({ name: "StoreBusyError", pid: process.pid }) as Error;

/** A process id that was in use a moment ago and is not any more. */
function deadPid(): number {
  return spawnSync("true").pid;
}

function leaveRecord(file: string, owner: object): void {
  writeFileSync(`${file}.owner`, JSON.stringify({ pid: process.pid, started: null, token: "theirs", ...owner }));
}

test("when a file is owned, then a second owner is refused with the first one's process id, also by another name of the file", async () => {
  const file = newDataFile();
  writeFileSync(file, "");
  symlinkSync(file, `${file}.link`);
  const ownership = await own(file);
  await expect(own(file)).rejects.toThrow(busy);
  await expect(own(`${file}.link`)).rejects.toThrow(busy);
  await ownership.release();
  await (await own(file)).release();
  expect(readdirSync(path.dirname(file))).toEqual(["survey.db", "survey.db.link"]);
});

test("when an owner's record is removed, then its socket still keeps others out, and what they leave is nothing", async () => {
  const file = newDataFile();
  const ownership = await own(file);
  rmSync(`${file}.owner`);
  await expect(own(file)).rejects.toThrow(busy);
  expect(readdirSync(path.dirname(file))).toEqual([expect.stringMatching(/^survey\.db\.alive\./)]);
  await ownership.release();
  expect(readdirSync(path.dirname(file))).toEqual([]);
});

test("when a file is owned, then everything beside it is for its owner alone", async () => {
  const file = newDataFile();
  const before = process.umask(0);
  try {
    const ownership = await own(file);
    const modes = readdirSync(path.dirname(file)).map(
      (name) => statSync(path.join(path.dirname(file), name)).mode & 0o777,
    );
    expect(modes).toEqual([0o600, 0o600]);
    await ownership.release();
  } finally {
    process.umask(before);
  }
});

test.each([
  ["the folder's path", (folder: string) => path.join(folder, "x".repeat(120), "y".repeat(120), "survey.db")],
  ["the file's name", (folder: string) => path.join(folder, `${"n".repeat(200)}.db`)],
])("when %s is longer than a socket's may be, then the file is owned all the same", async (_, place) => {
  const file = place(path.dirname(newDataFile()));
  const ownership = await own(file);
  rmSync(`${file}.owner`);
  await expect(own(file)).rejects.toThrow(busy);
  await ownership.release();
  expect(readdirSync(path.dirname(file))).toEqual([]);
});

test.each<[string, () => object]>([
  ["a process that is dead", () => ({ pid: deadPid() })],
  ["a namesake of this process, as in a container that was started again", () => ({ pid: process.pid })],
  ["a process whose id another has now", () => ({ pid: process.ppid, started: "1" })],
  ["a process of another container", () => ({ pid: process.ppid, space: "another" })],
])("when the record is of %s, then the file is taken over and the lock it left goes", async (_, owner) => {
  const file = newDataFile();
  leaveRecord(file, owner());
  mkdirSync(`${file}.lock`);
  const ownership = await own(file);
  expect(JSON.parse(readFileSync(`${file}.owner`, "utf8"))).toMatchObject({ pid: process.pid });
  expect(readdirSync(path.dirname(file))).toEqual([expect.stringContaining(".alive."), "survey.db.owner"]);
  await ownership.release();
});

test("when the record is of a process that is running, then the file is not taken from it", async () => {
  const file = newDataFile();
  leaveRecord(file, { pid: process.ppid });
  mkdirSync(`${file}.lock`);
  await expect(own(file)).rejects.toMatchObject({ name: "StoreBusyError", pid: process.ppid });
  expect(readdirSync(path.dirname(file))).toEqual(["survey.db.lock", "survey.db.owner"]);
});

test("when the record cannot be read, then nobody is known to be alive and the file is taken over", async () => {
  const file = newDataFile();
  writeFileSync(`${file}.owner`, "{ torn");
  await (await own(file)).release();
  expect(readdirSync(path.dirname(file))).toEqual([]);
});

test("when starts were killed on the way, then what they left beside the file goes, and nothing else", async () => {
  const file = newDataFile();
  const left = [
    `${file}.owner.${randomUUID()}`,
    `${file}.owner.0123456789ab`,
    `${file}.owner.0123456789ab.${randomUUID()}.0123456789ab`,
  ];
  for (const name of left) writeFileSync(name, "");
  const ofDead = `${file}.owner.${randomUUID()}`;
  writeFileSync(ofDead, JSON.stringify({ pid: deadPid(), started: null, space: null, token: "dead" }));
  const ofLiving = `${file}.owner.${randomUUID()}`;
  writeFileSync(ofLiving, JSON.stringify({ pid: process.ppid, started: null, space: null, token: "theirs" }));
  await leaveDeadSocket(file, ".");
  writeFileSync(`${file}.owner.txt`, "mine");
  utimesSync(path.join(path.dirname(file), ".survey.db.alive.dead"), 1, 1);
  await (await own(file)).release();
  expect(readdirSync(path.dirname(file))).toEqual([path.basename(ofLiving), "survey.db.owner.txt"]);
});

test("when the socket of a start is not a minute old, then it may still be about to show it, and stays", async () => {
  const file = newDataFile();
  await leaveDeadSocket(file, ".");
  await (await own(file)).release();
  expect(readdirSync(path.dirname(file))).toEqual([".survey.db.alive.dead"]);
});

const ROUNDS = size(2, 25);

test(`when many want the file of one that was killed, then one gets it, in each of ${ROUNDS} rounds`, async () => {
  const file = newDataFile();
  for (let round = 0; round < ROUNDS; round += 1) {
    await leaveDeadSocket(file);
    leaveRecord(file, { pid: deadPid(), token: `round ${round}` });
    const settled = await Promise.allSettled(Array.from({ length: 8 }, () => own(file)));
    const owners = settled.flatMap((one) => (one.status === "fulfilled" ? [one.value] : []));
    expect(owners).toHaveLength(1);
    await owners[0]?.release();
    expect(readdirSync(path.dirname(file))).toEqual([]);
  }
});

/** A socket whose process was killed; with a dot in front, before it was shown. */
function leaveDeadSocket(file: string, hidden: "" | "." = ""): Promise<void> {
  const socket = path.join(path.dirname(file), `${hidden}${path.basename(file)}.alive.dead`);
  const script = `require("node:net").createServer().listen(${JSON.stringify(socket)}, () => process.kill(process.pid, "SIGKILL"))`;
  return new Promise((resolve) => {
    spawn(process.execPath, ["-e", script]).on("close", () => resolve());
  });
}

describe("a data file", () => {
  test("when a store is open, then opening it again is refused and the first goes on", async () => {
    const file = newDataFile();
    const first = await openFixture({ file });
    await expect(openFixture({ file })).rejects.toMatchObject({
      name: "StoreBusyError",
      pid: process.pid,
    });
    expect(await first.read(async (tx) => (await tx.projects.list()).length)).toBe(1);
    await first.store.close();
    await (await openFixture({ file })).store.close();
  });
});
