/** Checks the complete file before the first request: every problem in one pass, and duplicates. */
import { createLineNumbers, type LineNumbers } from "../table/line-numbers.ts";
import type { ImportTable } from "../table/open-table.ts";
import { type InputRecord, isEmptyRow } from "../table/record-parser.ts";
import { answerKey, groupLines, keptLine, personKeys } from "./identities.ts";
import { type Oddities, watchOddities } from "./oddities.ts";
import { type OptOuts, watchOptOuts } from "./opt-outs.ts";
import { createProblemList, type ProblemGroup } from "./problem-list.ts";
import type { ImportRow, RowKind, RowProblem, RowValues } from "./row-kind.ts";
import { identifierOf, type ValidFields } from "./validate.ts";

export type DuplicatePolicy = "error" | "first" | "last";

export interface CheckOptions {
  /** Null: the first is used, with a warning. */
  readonly onDuplicate: DuplicatePolicy | null;
  /** Kinds of problems that are kept; the others are counted. */
  readonly maxErrors: number;
  /** People who opted out by a column of the file are not sent. */
  readonly skipsOptedOut: boolean;
  /** Its reason is thrown when it is aborted. */
  readonly signal: AbortSignal;
}

export interface CheckReport extends Oddities {
  readonly rows: number;
  readonly invalidRows: number;
  readonly problemCount: number;
  /** At most `maxErrors`, in the order in which they were met first. */
  readonly problems: readonly ProblemGroup[];
  /** Valid rows that are not sent because another row of the same person or answer is. */
  readonly duplicates: number;
  /** Null if they are of no interest. */
  readonly optOuts: OptOuts | null;
  /** Why a valid row is not sent; null for one that is. */
  readonly reasonToSkip: (row: Pick<ImportRow, "line" | "values">) => string | null;
  /** Rows that other services than our own may take. */
  readonly overOwnLimits: number;
}

export function countSendable({ rows, invalidRows, duplicates, optOuts }: CheckReport): number {
  return rows - invalidRows - duplicates - (optOuts?.rows ?? 0);
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
  const addProblem = (line: number, problem: RowProblem): void => {
    counts.invalidRows += 1;
    problems.add(line, problem);
  };
  const takeValid = (record: InputRecord, checked: ValidFields): void => {
    const { line, fields } = record;
    const { values } = checked;
    const { conflict, dropped } = compare(values, line);
    if (conflict !== null) return addProblem(line, conflict);
    optOuts?.take(fields, values);
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
      optOuts,
      reasonToSkip: skipReasons(keptBy, conflicts, optOuts),
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
      // A removal sends the first identifier only, so what else its row says matters to nobody.
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

/** A function of its own, so that what lives on with the report doesn't hold the people seen by the check. */
function skipReasons(
  keptBy: LineNumbers,
  conflicts: LineNumbers,
  optOuts: OptOuts | null,
): CheckReport["reasonToSkip"] {
  return ({ line, values }) => {
    if (conflicts.get(line) !== 0)
      return `invalid: its phone number has another e-mail address on line ${conflicts.get(line)}`;
    if (keptBy.get(line) !== 0) return `duplicate of line ${keptLine(keptBy, line)}`;
    const header = values["send"] === false ? null : (optOuts?.headerFor(values) ?? null);
    return header === null ? null : `suppressed: ${header} has a value`;
  };
}
