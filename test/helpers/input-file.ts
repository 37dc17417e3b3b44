import { open } from "node:fs/promises";
import path from "node:path";
import { onTestFinished } from "vitest";
import { openInputFile, type InputFile } from "../../src/bulk/import/table/input-file.ts";

export async function openTestInput(file: string, delimiter: string | null = null): Promise<InputFile> {
  const input = await openInputFile(await open(file, "r"), { path: file, name: path.basename(file), delimiter });
  onTestFinished(() => input.close());
  return input;
}
