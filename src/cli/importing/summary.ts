import { countOutcomes, type OutcomeCounts, type OutcomeName, OUTCOMES } from "../../bulk/import/journal/outcome.ts";
import type { SendReport } from "../../bulk/import/send-rows.ts";
import { countOf, formatCount } from "../../contract/text/whole-number.ts";
import { writeNote } from "../kit/notes.ts";
import type { Deps } from "../kit/deps.ts";
import { InterruptedError } from "../errors/command-errors.ts";
import { EXIT, type ExitCode } from "../exit-codes.ts";
import { isJson } from "../render/encoders.ts";
import { toSafeText, toShellWord } from "../render/safe-text.ts";
import type { ImportRequest } from "./import-request.ts";

/** `outdated` means that an earlier run wrote the file. */
export type ResultsState = "written" | "outdated" | "missing";

export interface Ending extends SendReport {
  readonly remaining: number;
  readonly elapsedMs: number;
  readonly retries: string | null;
  readonly results: ResultsState;
  readonly remarks: readonly string[];
}

/** `file` is the results file. With `-o json`, the counts also go to stdout. */
export async function writeSummary(deps: Deps, request: ImportRequest, file: string, ending: Ending): Promise<void> {
  const { streams, options } = deps;
  const seconds = ending.elapsedMs / 1000;
  const done = countOutcomes(ending.counts) - countOutcomes(ending.earlier);
  const rate = seconds === 0 ? 0 : Math.round(done / seconds);
  if (!options.quiet) {
    const { retries } = ending;
    const lines = [
      describeEnding(request, ending, seconds, rate),
      ...describeFailures(ending),
      ...(retries === null ? [] : [retries]),
      ...ending.remarks,
      describeResults(ending, file),
    ];
    await streams.err.write(`${lines.join("\n")}\n`);
  }
  for (const line of nextSteps(deps, request, ending)) await streams.err.write(`${line}\n`);
  if (!isJson(options.output)) return;
  const object = {
    command: request.command,
    ...ending.counts,
    remaining: ending.remaining,
    possibly_sent: ending.unfinished,
    earlier: ending.earlier,
    elapsed_seconds: Number(seconds.toFixed(3)),
    rows_per_second: rate,
    results: ending.results === "written" ? file : null,
  };
  await streams.out.write(`${JSON.stringify(object)}\n`);
}

export async function writeNothingToDo(
  deps: Deps,
  request: ImportRequest,
  file: string,
  { note, counts }: { readonly note: string; readonly counts: OutcomeCounts },
): Promise<ExitCode> {
  await writeNote(deps, note);
  const results = countOutcomes(counts) === 0 ? "missing" : "written";
  const nothing = {
    remaining: 0,
    unfinished: 0,
    elapsedMs: 0,
    failures: [],
    remarks: [],
    retries: null,
    stoppedBy: null,
  };
  const quietly = { ...deps, options: { ...deps.options, quiet: true } };
  await writeSummary(quietly, request, file, { ...nothing, counts, earlier: counts, results });
  return EXIT.done;
}

const REASONS_SHOWN = 10;

function describeFailures({ failures }: Ending): string[] {
  const rest = failures.slice(REASONS_SHOWN).reduce((sum, { rows }) => sum + rows, 0);
  return [
    ...failures.slice(0, REASONS_SHOWN).map(({ rows, reason }) => `${countOf(rows, "row")}: ${toSafeText(reason)}`),
    ...(rest > 0 ? [`${countOf(rest, "row")}: other reasons, see the results`] : []),
  ];
}

function describeResults({ results }: Ending, file: string): string {
  if (results === "written") return `results: ${file}`;
  return results === "missing" ? "results: not written" : `results: not written; ${file} is from a previous run`;
}

function describeEnding(request: ImportRequest, ending: Ending, seconds: number, rate: number): string {
  const { remaining, unfinished, stoppedBy } = ending;
  const rows = [
    ...describeCounts(request, ending),
    ...(unfinished > 0 ? [`${formatCount(unfinished)} possibly sent`] : []),
    ...(remaining > unfinished ? [`${formatCount(remaining - unfinished)} not sent`] : []),
  ].join(", ");
  if (stoppedBy === null) return `${rows || "no rows"} in ${seconds.toFixed(1)} s (${formatCount(rate)}/s)`;
  const word = stoppedBy instanceof InterruptedError ? "Interrupted" : "Stopped";
  return `${word} after ${seconds.toFixed(1)} s: ${rows || "no rows"}`;
}

/** Returns `1,404 scheduled now, 596 earlier` for a resumed run. */
function describeCounts({ isRemoval }: ImportRequest, { counts, earlier }: Ending): string[] {
  const isResumed = countOutcomes(earlier) > 0;
  const word = (name: OutcomeName): string => (name === "saved" && isRemoval === true ? "removed" : name);
  return OUTCOMES.filter((name) => counts[name] > 0).map((name) => {
    const now = `${formatCount(counts[name] - earlier[name])} ${word(name)}`;
    return isResumed
      ? `${now} now, ${formatCount(earlier[name])} earlier`
      : `${formatCount(counts[name])} ${word(name)}`;
  });
}

function nextSteps(
  { commandLine, options: { quiet } }: Deps,
  { flags }: ImportRequest,
  { counts, stoppedBy, failures }: Ending,
): string[] {
  const resume = resumeCommand(commandLine, ["--resume"]);
  if (stoppedBy !== null) return [`To resume: ${resume}`];
  if (quiet && counts.unknown === 0) return [];
  const refused = failures.reduce((sum, { rows, isRefused }) => sum + (isRefused ? rows : 0), 0);
  const written = flags.failedTo === null ? "--failed-to FILE writes them" : `they are in ${flags.failedTo}`;
  return [
    ...(counts.failed > refused ? [`To retry the failed rows: ${resume}`] : []),
    ...(refused > 0
      ? [`Refused rows would be refused again: correct them and import them as a new file (${written})`]
      : []),
    ...(counts.unknown > 0
      ? [
          `To check the unknown rows again: ${resume}`,
          `To send those that stay unknown, too: ${resumeCommand(commandLine, ["--resume", "--retry-unknown"])}`,
        ]
      : []),
  ];
}

export function resumeCommand(commandLine: readonly string[], flags: readonly string[]): string {
  const end = commandLine.includes("--") ? commandLine.indexOf("--") : commandLine.length;
  const words = commandLine.slice(0, end).filter((word) => !flags.includes(word));
  return ["surveyctl", ...words, ...flags, ...commandLine.slice(end)].map(toShellWord).join(" ");
}
