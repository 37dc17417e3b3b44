import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { replaceFile } from "../../src/runtime/file-replacement.ts";

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
