// Runs all benchmarks one after the other in separate processes, and fails if a limit is exceeded. `node
// test/bench/run.js startup` runs those whose name contains the word; `--long` includes a million rows; `--against REF`
// compares with another commit.
import { spawnSync } from "node:child_process";
import { readdirSync } from "node:fs";
import path from "node:path";
import { parseArgs } from "node:util";
import { compareWith } from "./against.js";

const { values, positionals: words } = parseArgs({
  allowPositionals: true,
  options: { long: { type: "boolean" }, against: { type: "string" } },
});
const flags = values.long === true ? ["--long"] : [];
const names = readdirSync(import.meta.dirname).filter((name) => name.endsWith(".bench.js"));
const chosen = names.filter((name) => words.length === 0 || words.some((word) => name.includes(word)));

if (values.against === undefined) {
  console.log(`${"benchmark".padEnd(44)} ${"measured".padStart(10)} ${"limit".padStart(10)}`);
  const failed = chosen.filter(
    (name) =>
      spawnSync(process.execPath, [path.join(import.meta.dirname, name), ...flags], { stdio: "inherit" }).status !== 0,
  );
  if (failed.length > 0) console.log(`failed: ${failed.join(", ")}`);
  process.exitCode = failed.length > 0 || chosen.length === 0 ? 1 : 0;
} else {
  const columns = [values.against.slice(0, 10), "now", "ratio", "limit"].map((title) => title.padStart(10));
  console.log(`${"benchmark".padEnd(44)} ${columns.join(" ")}`);
  process.exitCode = compareWith(values.against, chosen, flags) && chosen.length > 0 ? 0 : 1;
}
