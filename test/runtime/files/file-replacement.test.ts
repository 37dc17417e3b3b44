import { execFileSync } from "node:child_process";
import { mkdtemp, open, readdir, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { openReplacement, replaceFile } from "../../../src/runtime/files/file-replacement.ts";

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(path.join(tmpdir(), "surveyctl-replace-"));
});
afterEach(() => rm(folder, { recursive: true }));

async function* brokenPieces(): AsyncGenerator<string> {
  yield "new";
  throw new Error("broken");
}

describe("a file that is replaced", () => {
  it.each([["a".repeat(255)], ["я".repeat(127)], ["好".repeat(85)], ["😀".repeat(63)]])(
    "when its name %s is as long as names may be, then it is written all the same",
    async (name) => {
      await replaceFile(path.join(folder, name), "text", "token");
      expect([await readdir(folder), await readFile(path.join(folder, name), "utf8")]).toEqual([[name], "text"]);
    },
  );

  it("when the text comes in pieces and breaks off, then the old file stays and nothing else", async () => {
    const file = path.join(folder, "file");
    await replaceFile(file, "old", "token");
    await expect(replaceFile(file, brokenPieces(), "token")).rejects.toThrow("broken");
    expect([await readdir(folder), await readFile(file, "utf8")]).toEqual([["file"], "old"]);
  });
});

describe("what is written as it comes", () => {
  it("when it is a descriptor that is open already, then what stands there stays", async () => {
    const file = path.join(folder, "file");
    const handle = await open(file, "w");
    await handle.write("first ");
    const replacement = await openReplacement(`/dev/fd/${handle.fd}`, "token");
    await replacement.write(Buffer.from("second"));
    await replacement.commit();
    await handle.close();
    expect([replacement.isWhole, await readFile(file, "utf8"), await readdir(folder)]).toEqual([
      false,
      "first second",
      ["file"],
    ]);
  });

  it("when it is a pipe that nobody reads, then the wait ends with the signal", async () => {
    const pipe = path.join(folder, "pipe");
    execFileSync("mkfifo", [pipe]);
    const both = await open(pipe, "r+");
    const writer = await open(pipe, "w");
    await both.close();
    const stopping = new AbortController();
    const opened = openReplacement(`/dev/fd/${writer.fd}`, "token", stopping.signal);
    setImmediate(() => stopping.abort(new Error("stopped")));
    await expect(opened).rejects.toThrow("stopped");
    await writer.close();
  });
});

it("names the folder that is not there, behind a link too", async () => {
  const link = path.join(folder, "link");
  await symlink(path.join("none", "file"), link);
  await expect(openReplacement(link, "token")).rejects.toThrow(
    `cannot write ${link}: the folder ${folder}/none does not exist`,
  );
  await expect(openReplacement(`${folder}/none/file`, "token")).rejects.toThrow(
    `the folder ${folder}/none does not exist`,
  );
});

it.each([
  ["is not there", "none/"],
  ["is a file", "file/"],
])("refuses a name that ends as a folder's does and %s", async (_, name) => {
  await writeFile(path.join(folder, "file"), "old");
  await expect(openReplacement(`${folder}/${name}`, "token")).rejects.toThrow("that names a folder");
  expect([await readdir(folder), await readFile(path.join(folder, "file"), "utf8")]).toEqual([["file"], "old"]);
});

it("refuses to replace a SQLite database, through a link too", async () => {
  const [file, link] = [path.join(folder, "survey.db"), path.join(folder, "link")];
  const content = `SQLite format 3\0${"x".repeat(100)}`;
  await writeFile(file, content);
  await symlink("survey.db", link);
  for (const name of [file, link])
    await expect(replaceFile(name, "text", "token")).rejects.toThrow(
      `cannot write ${name}: it is a SQLite database; name another file`,
    );
  expect([await readdir(folder), await readFile(file, "utf8")]).toEqual([["link", "survey.db"], content]);
});
