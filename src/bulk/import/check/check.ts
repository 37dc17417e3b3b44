/** Checks the complete file before the first request: every problem in one pass, and duplicates. */
import { createLineNumbers, type LineNumbers } from "../table/line-numbers.ts";
import type { ImportTable } from "../table/open-table.ts";
import { type InputRecord, isEmptyRow } from "../table/record-parser.ts";
import { answerKey, groupLines, keptLine, personKeys } from "./identities.ts";
import { type Oddities, watchOddities } from "./oddities.ts";
import { watchOptOuts } from "./opt-outs.ts";
import { createProblemList, type ProblemGroup } from "./problem-list.ts";
import { type RowKind, type RowProblem, type RowValues, type Way, WAYS, wayOf } from "./row-kind.ts";
import { identifierOf, type ValidFields } from "./validate.ts";

type DuplicatePolicy = "error" | "first" | "last";

export interface CheckOptions {
  /** Null: the first is used, with a warning. */
  readonly onDuplicate: DuplicatePolicy | null;
  /** Kinds of problems to keep; further ones are only counted. */
  readonly maxErrors: number;
  readonly skipsOptedOut: boolean;
  readonly signal: AbortSignal;
}

export interface CheckReport extends Oddities {
  readonly rows: number;
  readonly invalidRows: number;
  readonly problemCount: number;
  /** At most `maxErrors`. */
  readonly problems: readonly ProblemGroup[];
  /** Valid rows skipped for another row of the same person or answer. */
  readonly duplicates: number;
  readonly optOutLookalikes: readonly string[];
  readonly sendable: number;
  /** All rows are on lines before this one. */
  readonly end: number;
  /** `null` if the line has no valid row. */
  readonly wayAt: (line: number) => Way | null;
  /** Why a valid row is skipped; `null` if it isn't. */
  readonly reasonToSkip: (line: number) => string | null;
  /** Invalid rows that another server may accept. */
  readonly overOwnLimits: number;
}

export async function checkTable(table: ImportTable, options: CheckOptions): Promise<CheckReport> {
  const tally = createTally(table, options);
  for await (const batch of table.records()) {
    options.signal.throwIfAborted();
    for (const record of batch) tally.take(record);
  }
  return tally.report();
}

interface Tally {
  take(record: InputRecord): void;
  report(): CheckReport;
}

function createTally(table: ImportTable, { onDuplicate, maxErrors, skipsOptedOut }: CheckOptions): Tally {
  const { columns } = table.mapping;
  const problems = createProblemList(maxErrors);
  const { keptBy, conflicts, compare } = compareRows(table.kind, onDuplicate === "last" ? "last" : "first");
  const optOuts = skipsOptedOut ? watchOptOuts(columns) : null;
  const oddities = watchOddities(table.kind, columns, maxErrors);
  const counts = { rows: 0, invalidRows: 0, duplicates: 0, overOwnLimits: 0 };
  const ways = createLineNumbers(Uint8Array);
  const addProblem = (line: number, problem: RowProblem): void => {
    counts.invalidRows += 1;
    problems.add(line, problem);
  };
  const takeValid = (record: InputRecord, checked: ValidFields): void => {
    const { line, fields } = record;
    const { values } = checked;
    const { conflict, dropped } = compare(values, line);
    if (conflict !== null) return addProblem(line, conflict);
    ways.set(line, WAYS.indexOf(wayOf(values)) + 1);
    optOuts?.take(line, fields);
    oddities.takeValid(record, checked);
    if (onDuplicate !== "error") counts.duplicates += dropped.length;
    else
      for (const one of dropped)
        addProblem(one, { column: "", message: `duplicate of line ${keptBy.get(one)} (${identifierOf(values)})` });
  };
  return {
    take(record) {
      oddities.takeAny(record);
      if (isEmptyRow(record)) return;
      counts.rows += 1;
      ways.set(record.line, 0);
      const checked = table.checkFields(record);
      if ("values" in checked) {
        takeValid(record, checked);
        return;
      }
      counts.invalidRows += 1;
      if (checked.isOwnLimit === true) counts.overOwnLimits += 1;
      for (const problem of checked.problems) problems.add(record.line, problem);
    },
    report: () => ({
      ...counts,
      ...oddities.found,
      problemCount: problems.count,
      problems: problems.groups,
      optOutLookalikes: optOuts?.lookalikes ?? [],
      ...describeLines(ways, { keptBy, conflicts }, optOuts?.finish(keptBy)),
    }),
  };
}

interface Comparison {
  /** For a line that is a duplicate, another line of its group. */
  readonly keptBy: LineNumbers;
  /** For a line that is invalid because of another one, that one. */
  readonly conflicts: LineNumbers;
  readonly compare: (
    values: RowValues,
    line: number,
  ) => { readonly conflict: RowProblem | null; readonly dropped: readonly number[] };
}

function compareRows({ repeats }: RowKind, keep: "first" | "last"): Comparison {
  const [keptBy, conflicts] = [createLineNumbers(Uint32Array), createLineNumbers(Uint32Array)];
  const people = groupLines(keep, repeats === "answer" ? createLineNumbers(Uint32Array) : keptBy);
  const answers = repeats === "answer" ? groupLines(keep, keptBy) : null;
  return {
    keptBy,
    conflicts,
    compare(values, line) {
      const keys = personKeys(values);
      // A removal sends the first identifier only.
      if (repeats === "identifier") return { conflict: null, dropped: people.join(line, keys.slice(0, 1)) };
      const other = people.findConflict(values);
      if (other !== null) {
        conflicts.set(line, other);
        const message = `${values["phone_number"]} has another e-mail address on line ${other}`;
        return { conflict: { column: "phone_number", message }, dropped: [] };
      }
      const samePerson = people.join(line, keys);
      return { conflict: null, dropped: answers?.join(line, [answerKey(values)]) ?? samePerson };
    },
  };
}

/** A function of its own, so that the report doesn't keep the people seen by the check in memory. */
function describeLines(
  ways: LineNumbers,
  { keptBy, conflicts }: Pick<Comparison, "keptBy" | "conflicts">,
  optOutOf: ((line: number) => string | null) | undefined,
): Pick<CheckReport, "sendable" | "end" | "wayAt" | "reasonToSkip"> {
  const { end } = ways;
  const wayAt = (line: number): Way | null => WAYS[ways.get(line) - 1] ?? null;
  const reasonToSkip = (line: number): string | null => {
    if (conflicts.get(line) !== 0)
      return `invalid: its phone number has another e-mail address on line ${conflicts.get(line)}`;
    if (keptBy.get(line) !== 0) return `duplicate of line ${keptLine(keptBy, line)}`;
    const header = wayAt(line) === "quiet" ? null : optOutOf?.(line);
    return header == null ? null : `suppressed: ${header} has a value`;
  };
  let sendable = 0;
  for (let line = 1; line < end; line += 1) if (wayAt(line) !== null && reasonToSkip(line) === null) sendable += 1;
  return { sendable, end, wayAt, reasonToSkip };
}
