import { chmod, mkdtemp, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { makeFolder } from "../../../src/runtime/files/make-folder.ts";

let home = "";
beforeEach(async () => {
  home = await mkdtemp(path.join(tmpdir(), "surveyctl-folder-"));
});
afterEach(() => rm(home, { recursive: true, force: true }));

describe("a folder that is needed", () => {
  it("when folders above it are missing too, then all are made with its mode", async () => {
    await makeFolder(path.join(home, "a/b"), 0o700);
    const modes = await Promise.all(["a", "a/b"].map(async (name) => (await stat(path.join(home, name))).mode & 0o777));
    expect(modes).toEqual([0o700, 0o700]);
  });

  it("when it is there, then it stays as it is", async () => {
    await chmod(home, 0o750);
    await makeFolder(home, 0o700);
    expect((await stat(home)).mode & 0o777).toBe(0o750);
  });

  it("when many make it at once, then all succeed", async () => {
    const all = Array.from({ length: 20 }, () => makeFolder(path.join(home, "a/b/c"), 0o700));
    await expect(Promise.all(all)).resolves.toHaveLength(20);
  });

  it.each([
    ["a file", "file", "EEXIST"],
    ["below a file", "file/a/b", "ENOTDIR"],
  ])("when it is %s, then the error says so", async (_, name, code) => {
    await writeFile(path.join(home, "file"), "");
    await expect(makeFolder(path.join(home, name), 0o700)).rejects.toMatchObject({ code });
  });

  it.runIf(process.platform === "linux")(
    "when the file system takes no new folders, then the error says so",
    async () => {
      await expect(makeFolder("/proc/surveyctl/a", 0o700)).rejects.toMatchObject({ code: "ENOENT" });
    },
  );
});
