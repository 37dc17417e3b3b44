import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { expect, it } from "vitest";
import { openScratchFile } from "../../../src/runtime/files/scratch-file.ts";

it("gives back every line, long ones too, and has no name", async () => {
  const folder = await mkdtemp(path.join(tmpdir(), "surveyctl-scratch-"));
  const lines = ["ä".repeat(200_000), "", "short", "x".repeat(64 * 1024), "y".repeat(64 * 1024 - 1), "end"];
  const scratch = await openScratchFile(folder, "t");
  for (const line of lines) await scratch.write(Buffer.from(`${line}\n`));
  expect(await readdir(folder)).toEqual([]);
  const found: string[] = [];
  for await (const line of scratch.lines()) found.push(line);
  await scratch.close();
  await rm(folder, { recursive: true });
  expect(found).toEqual(lines);
});
