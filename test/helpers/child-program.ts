import { mkdtempSync, rmSync } from "node:fs";
import path from "node:path";
import { build } from "rolldown";
import { afterAll, beforeAll } from "vitest";

/** Bundles a TypeScript program for processes of its own, as long as a file's tests run; its path once they begin. */
export function useChildProgram(input: string): { readonly script: string } {
  const program = { script: "" };
  beforeAll(async () => {
    // Below node_modules, so that the program finds its packages.
    const folder = mkdtempSync(path.join(import.meta.dirname, "../../node_modules/.child-"));
    program.script = path.join(folder, "child.mjs");
    const output = { file: program.script, codeSplitting: false };
    await build({ input, platform: "node", external: /^[^./]/, output });
  });
  afterAll(() => rmSync(path.dirname(program.script), { recursive: true, force: true }));
  return program;
}
