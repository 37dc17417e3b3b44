// Compares this checkout's benchmarks with another commit's. They alternate, so that load from elsewhere affects both.
import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { median } from "./report.js";

const TURNS = 3;
/** Ratio that counts as worse if two of three rounds reach it. */
const LOSS = 1.1;

const root = path.join(import.meta.dirname, "../..");

/** Returns true if no line got worse. Throws if the other commit can't be built. */
export function compareWith(ref, names, flags) {
  const other = mkdtempSync(path.join(tmpdir(), "surveyctl-against-"));
  try {
    must(root, "git", "worktree", "add", "--quiet", "--detach", "--force", other, ref);
    must(other, "npm", "ci", "--no-audit", "--no-fund", "--silent");
    must(other, "npm", "run", "build", "--silent");
    const lines = names.flatMap((name) => compareBenchmark(name, flags, other));
    const worse = lines.filter(isWorse);
    for (const line of worse) console.log(`worse than ${ref}: ${line.label}`);
    return worse.length === 0;
  } finally {
    rmSync(other, { recursive: true, force: true });
    spawnSync("git", ["worktree", "prune"], { cwd: root });
  }
}

function must(cwd, command, ...args) {
  const { status } = spawnSync(command, args, { cwd, stdio: ["ignore", "inherit", "inherit"] });
  if (status !== 0) throw new Error(`${command} ${args.join(" ")} ended with status ${status}`);
}

/** Prints and returns the lines of one benchmark, each with the figures of all turns. */
function compareBenchmark(name, flags, other) {
  const lines = new Map();
  for (let turn = 0; turn < TURNS; turn += 1)
    for (const [side, folder] of [
      ["before", other],
      ["now", root],
    ])
      for (const { label, figure, limit } of figuresOf(folder, name, flags)) {
        const line = lines.get(label) ?? { label, before: [], now: [], limit: "" };
        line[side][turn] = figure;
        if (side === "now") line.limit = limit;
        lines.set(label, line);
      }
  for (const line of lines.values()) print(line);
  return [...lines.values()];
}

function figuresOf(folder, name, flags) {
  const file = path.join(folder, "test/bench", name);
  if (!existsSync(file)) return [];
  const { stdout } = spawnSync(process.execPath, [file, ...flags], {
    cwd: folder,
    encoding: "utf8",
    stdio: ["ignore", "pipe", "inherit"],
  });
  return stdout.split("\n").flatMap(parseLine);
}

/** Drops figures in parentheses from the label, because they vary between runs. */
export function parseLine(text) {
  const match = /^(.*?\S)\s+(\d+(?:\.\d+)?)\s+((?:[<>]= [\d.]+)?)\s*(?:ok|FAIL)$/.exec(text);
  if (match === null) return [];
  const [, label, figure, limit] = match;
  return [{ label: label.replaceAll(/ *\([^)]*\d[^)]*\)/g, ""), figure: Number(figure), limit }];
}

/** A line without a limit can't be worse. */
export function isWorse({ before, now, limit }) {
  const losses = now.filter((figure, turn) => {
    const was = before[turn];
    if (was === undefined || limit === "") return false;
    return limit.startsWith("<") ? figure > was * LOSS : figure * LOSS < was;
  });
  return losses.length >= 2;
}

function print({ label, before, now, limit }) {
  const was = before.length === 0 ? null : median(before.filter(Number.isFinite));
  const is = now.length === 0 ? null : median(now.filter(Number.isFinite));
  const ratio = was === null ? "only now" : is === null ? "only then" : (is / was).toFixed(2);
  console.log(`${label.padEnd(44)} ${cell(was)} ${cell(is)} ${ratio.padStart(10)} ${limit.padStart(10)}`);
}

function cell(value) {
  return (value === null ? "-" : value.toPrecision(3)).padStart(10);
}
