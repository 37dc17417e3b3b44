import { mkdtempSync, rmSync } from "node:fs";
import path from "node:path";
import { build } from "rolldown";
import { afterAll, beforeAll } from "vitest";

/** Bundles a TypeScript program to run as a separate process; removed after the file's tests. */
export function useChildProgram(input: string): { readonly script: string } {
  const program = { script: "" };
  beforeAll(async () => {
    // Inside node_modules, so that imports of packages resolve.
    const folder = mkdtempSync(path.join(import.meta.dirname, "../../node_modules/.child-"));
    program.script = path.join(folder, "child.mjs");
    const output = { file: program.script, codeSplitting: false };
    await build({ input, platform: "node", external: /^[^./]/, output });
  });
  afterAll(() => rmSync(path.dirname(program.script), { recursive: true, force: true }));
  return program;
}
