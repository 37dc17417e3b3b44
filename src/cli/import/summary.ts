import { countOutcomes, OUTCOMES, type OutcomeCounts } from "../../bulk/import/journal/outcome.ts";
import type { Deps } from "../command/deps.ts";
import type { ImportRequest } from "./import-request.ts";
import type { RecordFiles } from "./record.ts";

export interface Ending {
  readonly counts: OutcomeCounts;
  /** How many of them former runs had settled: the rate is of the others. */
  readonly settledBefore: number;
  /** Rows without an outcome. */
  readonly pending: number;
  readonly elapsedMs: number;
  /** What is typed to go on; null when nothing is left. */
  readonly resume: string | null;
}

/** Counts of each outcome, elapsed, rate on stderr; with `-o json` also as one object on stdout. */
export async function writeSummary(
  { streams, options }: Deps,
  request: ImportRequest,
  files: RecordFiles,
  ending: Ending,
): Promise<void> {
  const { counts, settledBefore, pending, elapsedMs, resume } = ending;
  const done = countOutcomes(counts) - settledBefore;
  const seconds = elapsedMs / 1000;
  const rate = seconds === 0 ? 0 : Math.round(done / seconds);
  if (!options.quiet) {
    const parts = OUTCOMES.filter((name) => counts[name] > 0).map((name) => `${counts[name]} ${name}`);
    const before = settledBefore > 0 ? ` (${settledBefore} by former runs)` : "";
    const left = pending > 0 ? [`${pending} without an outcome`] : [];
    await streams.err.write(
      `${[...parts, ...left].join(", ") || "no rows"}${before} in ${seconds.toFixed(1)} s (${rate}/s)\nresults: ${files.results}\n`,
    );
  }
  if (resume !== null) await streams.err.write(`to go on: ${resume}\n`);
  if (options.output !== "json" && options.output !== "ndjson") return;
  const object = {
    command: request.command,
    ...counts,
    pending,
    elapsed_seconds: Number(seconds.toFixed(3)),
    rows_per_second: rate,
    results: files.results,
  };
  await streams.out.write(`${JSON.stringify(object)}\n`);
}

/** The command line to go on with, quoted for a shell; `flags` are added where they are not there yet. */
export function resumeCommand(commandLine: readonly string[], flags: readonly string[]): string {
  const end = commandLine.includes("--") ? commandLine.indexOf("--") : commandLine.length;
  const words = commandLine.slice(0, end).filter((word) => !flags.includes(word));
  return ["surveyctl", ...words, ...flags, ...commandLine.slice(end)]
    .map((word) => (/^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`))
    .join(" ");
}
