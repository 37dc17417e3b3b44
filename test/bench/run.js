// Runs every benchmark, one after the other, each in a process of its own, and fails when a ratio does.
// `node test/bench/run.js startup` runs those whose name holds the word; `--long` goes on to a million rows.
import { spawnSync } from "node:child_process";
import { readdirSync } from "node:fs";
import path from "node:path";

const [wanted, flags] = [false, true].map((isFlag) =>
  process.argv.slice(2).filter((word) => word.startsWith("--") === isFlag),
);
const names = readdirSync(import.meta.dirname).filter((name) => name.endsWith(".bench.js"));
const chosen = names.filter((name) => wanted.length === 0 || wanted.some((word) => name.includes(word)));

console.log(`${"benchmark".padEnd(44)} ${"measured".padStart(10)} ${"limit".padStart(10)}`);
const failed = chosen.filter(
  (name) =>
    spawnSync(process.execPath, [path.join(import.meta.dirname, name), ...flags], { stdio: "inherit" }).status !== 0,
);
if (failed.length > 0) console.log(`failed: ${failed.join(", ")}`);
process.exitCode = failed.length > 0 || chosen.length === 0 ? 1 : 0;
