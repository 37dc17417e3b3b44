/** Builds `dist` if a source has changed, because most tests of commands run the built program. */
import { execFileSync } from "node:child_process";
import { readdirSync, statSync } from "node:fs";
import path from "node:path";

const root = path.join(import.meta.dirname, "..");

export function setup(): void {
  const built = statSync(path.join(root, "dist/sbom.json"), { throwIfNoEntry: false })?.mtimeMs ?? 0;
  const sources = readdirSync(path.join(root, "src"), { recursive: true, encoding: "utf8" });
  const files = [...sources.map((name) => `src/${name}`), "bin/build.js", "package-lock.json"];
  if (files.some((name) => statSync(path.join(root, name)).mtimeMs > built))
    execFileSync(process.execPath, [path.join(root, "bin/build.js")], { stdio: "inherit" });
}
