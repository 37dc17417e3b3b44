import { withoutGuard } from "../../../contract/text/formula-guard.ts";
import type { HeaderColumn } from "../table/header.ts";
import { createLineNumbers, type LineNumbers } from "../table/line-numbers.ts";
import type { ImportTable } from "../table/open-table.ts";
import { type InputRecord, isEmptyRow } from "../table/record-parser.ts";
import { answerKey, groupLines, keptLine, personKeys } from "./identities.ts";
import { type Oddities, watchOddities } from "./oddities.ts";
import { createProblemList, type ProblemGroup } from "./problem-list.ts";
import { type RowKind, type RowProblem, type RowValues, type SendMode, SEND_MODES, sendMode } from "./row-kind.ts";
import { identify, type ValidFields } from "./validate.ts";

export interface CheckOptions {
  /** Null keeps the first row and warns. */
  readonly onDuplicate: "error" | "first" | "last" | null;
  /** Maximum number of problems to list; further ones are only counted. */
  readonly maxErrors: number;
  readonly skipsOptedOut: boolean;
  readonly signal: AbortSignal;
}

export interface CheckReport extends Oddities {
  readonly rows: number;
  readonly invalidRows: number;
  readonly problemCount: number;
  readonly problems: readonly ProblemGroup[];
  readonly duplicates: number;
  readonly optOutLookalikes: readonly string[];
  readonly sendable: number;
  readonly end: number;
  readonly modeAt: (line: number) => SendMode | null;
  readonly reasonToSkip: (line: number) => string | null;
  /** Number of invalid rows that another server might accept. */
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

function createTally(table: ImportTable, { onDuplicate, maxErrors, skipsOptedOut }: CheckOptions) {
  const { columns } = table.mapping;
  const problems = createProblemList(maxErrors);
  const { keptBy, conflicts, compare } = compareRows(table.kind, onDuplicate === "last" ? "last" : "first");
  const optOuts = skipsOptedOut ? watchOptOuts(columns) : null;
  const oddities = watchOddities(table.kind, columns, maxErrors);
  const counts = { rows: 0, invalidRows: 0, duplicates: 0, overOwnLimits: 0 };
  const modes = createLineNumbers(Uint8Array);
  const addProblem = (line: number, problem: RowProblem): void => {
    counts.invalidRows += 1;
    problems.add(line, problem);
  };
  const takeValid = (record: InputRecord, checked: ValidFields): void => {
    const { line, fields } = record;
    const { values } = checked;
    const { conflict, dropped } = compare(values, line);
    if (conflict !== null) return addProblem(line, conflict);
    modes.set(line, SEND_MODES.indexOf(sendMode(values)) + 1);
    optOuts?.take(line, fields);
    oddities.takeValid(record, checked);
    if (onDuplicate !== "error") counts.duplicates += dropped.length;
    else
      for (const one of dropped)
        addProblem(one, { column: "", message: `duplicate of line ${keptBy.get(one)} (${identify(values)})` });
  };
  return {
    take(record: InputRecord): void {
      oddities.takeAny(record);
      if (isEmptyRow(record)) return;
      counts.rows += 1;
      modes.set(record.line, 0);
      const checked = table.checkFields(record);
      if ("values" in checked) {
        takeValid(record, checked);
        return;
      }
      counts.invalidRows += 1;
      if (checked.isOwnLimit === true) counts.overOwnLimits += 1;
      for (const problem of checked.problems) problems.add(record.line, problem);
    },
    report: (): CheckReport => ({
      ...counts,
      ...oddities.found,
      problemCount: problems.count,
      problems: problems.groups,
      optOutLookalikes: optOuts?.lookalikes ?? [],
      ...describeLines(modes, { keptBy, conflicts }, optOuts?.finish(keptBy)),
    }),
  };
}

/** `conflicts` maps an invalid line to the line that it conflicts with. */
function compareRows({ repeats }: RowKind, keep: "first" | "last") {
  const [keptBy, conflicts] = [createLineNumbers(Uint32Array), createLineNumbers(Uint32Array)];
  const people = groupLines(keep, repeats === "answer" ? createLineNumbers(Uint32Array) : keptBy);
  const answers = repeats === "answer" ? groupLines(keep, keptBy) : null;
  return {
    keptBy,
    conflicts,
    compare: (
      values: RowValues,
      line: number,
    ): { readonly conflict: RowProblem | null; readonly dropped: readonly number[] } => {
      const keys = personKeys(values);
      // Removals send only the first identifier.
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

/** Separate from the tally, so that the report doesn't keep the list of people in memory. */
function describeLines(
  modes: LineNumbers,
  { keptBy, conflicts }: { readonly keptBy: LineNumbers; readonly conflicts: LineNumbers },
  optOutOf: ((line: number) => string | null) | undefined,
): Pick<CheckReport, "sendable" | "end" | "modeAt" | "reasonToSkip"> {
  const { end } = modes;
  const modeAt = (line: number): SendMode | null => SEND_MODES[modes.get(line) - 1] ?? null;
  const reasonToSkip = (line: number): string | null => {
    if (conflicts.get(line) !== 0)
      return `invalid: its phone number has another e-mail address on line ${conflicts.get(line)}`;
    if (keptBy.get(line) !== 0) return `duplicate of line ${keptLine(keptBy, line)}`;
    const header = modeAt(line) === "quiet" ? null : optOutOf?.(line);
    return header == null ? null : `suppressed: ${header} has a value`;
  };
  let sendable = 0;
  for (let line = 1; line < end; line += 1) if (modeAt(line) !== null && reasonToSkip(line) === null) sendable += 1;
  return { sendable, end, modeAt, reasonToSkip };
}

/** Matches `unsubscribed_at` from our exports, `Opt-Out Date`, `Bounced On`. */
const OPT_OUT_TIME =
  /^(?:unsubscribed?|bounced?|complain(?:ed|t)|suppress(?:ed|ion)|opt(?:ed)?[ _-]?out)[ _-](?:at|on|date|time)$/i;
const LOOKS_LIKE_OPT_OUT = /unsubscri|opt(?:ed)?[ _-]?out|do[ _-]?not|suppress|bounced/i;
const NOTHING = /^(?:|0|no|false|never|null|none|nan|n\/a|-)$/i;

function watchOptOuts(columns: readonly HeaderColumn[]) {
  const headers = columns.map(({ header }) => header.trim());
  const times = headers.flatMap((header, index) => (OPT_OUT_TIME.test(header) ? [index] : []));
  const columnOf = createLineNumbers(Uint32Array);
  return {
    lookalikes: headers.filter((header) => LOOKS_LIKE_OPT_OUT.test(header) && !OPT_OUT_TIME.test(header)),
    take(line: number, fields: readonly string[]): void {
      const found = times.find((index) => !NOTHING.test(withoutGuard(fields[index] ?? "").trim()));
      if (found !== undefined) columnOf.set(line, found + 1);
    },
    /**
     * Returns a function that names the column with a person's opt-out, found in their line or in a duplicate of it.
     */
    finish(keptBy: LineNumbers): (line: number) => string | null {
      for (let line = 1; line < columnOf.end; line += 1)
        if (columnOf.get(line) !== 0) columnOf.set(keptLine(keptBy, line), columnOf.get(line));
      return (line) => headers[columnOf.get(line) - 1] ?? null;
    },
  };
}
