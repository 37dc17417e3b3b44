import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { expect, it } from "vitest";
import { openScratchFile } from "../../../src/runtime/files/scratch-file.ts";

it("gives back any part of what was written, and has no name", async () => {
  const folder = await mkdtemp(path.join(tmpdir(), "surveyctl-scratch-"));
  const written = Buffer.from(["ä".repeat(200_000), "short", "x".repeat(64 * 1024), "end"].join("\n"));
  const scratch = await openScratchFile(folder, "t");
  await scratch.write(written.subarray(0, 100));
  await scratch.write(written.subarray(100));
  expect(await readdir(folder)).toEqual([]);
  for (const [start, length] of [
    [0, written.length],
    [7, 3],
    [90, 200_000],
    [5, 0],
  ] as const) {
    const found: Uint8Array[] = [];
    for await (const chunk of scratch.read(start, length)) found.push(Uint8Array.from(chunk));
    expect(Buffer.concat(found).equals(written.subarray(start, start + length))).toBe(true);
  }
  await scratch.close();
  await rm(folder, { recursive: true });
});
