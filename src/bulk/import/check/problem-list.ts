import type { RowProblem } from "./row-kind.ts";

export interface LineRange {
  readonly first: number;
  last: number;
}

export interface ProblemGroup extends RowProblem {
  rows: number;
  readonly ranges: LineRange[];
  isComplete: boolean;
}

const RANGES_MAX = 10;

export function createProblemList(kindsMax: number) {
  const groups = new Map<string, ProblemGroup>();
  let count = 0;
  return {
    get groups(): readonly Readonly<ProblemGroup>[] {
      return [...groups.values()];
    },
    get count() {
      return count;
    },
    add(line: number, { column, message }: RowProblem): void {
      count += 1;
      const key = `${column}\n${message}`;
      const group = groups.get(key);
      if (group !== undefined) addLine(group, line);
      else if (groups.size < kindsMax)
        groups.set(key, { column, message, rows: 1, ranges: [{ first: line, last: line }], isComplete: true });
    },
  };
}

function addLine(group: ProblemGroup, line: number): void {
  const last = group.ranges.at(-1);
  group.rows += 1;
  if (group.isComplete && last?.last === line - 1) last.last = line;
  else if (group.ranges.length < RANGES_MAX) group.ranges.push({ first: line, last: line });
  else group.isComplete = false;
}
