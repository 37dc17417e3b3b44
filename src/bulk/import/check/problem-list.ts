import type { RowProblem } from "./row-kind.ts";

export interface LineRange {
  readonly first: number;
  readonly last: number;
}

export interface ProblemGroup extends RowProblem {
  readonly rows: number;
  readonly ranges: readonly LineRange[];
  readonly isComplete: boolean;
}

const RANGES_MAX = 10;

interface Group extends RowProblem {
  rows: number;
  ranges: { first: number; last: number }[];
  isComplete: boolean;
}

export function createProblemList(kindsMax: number) {
  const groups = new Map<string, Group>();
  let count = 0;
  return {
    get groups(): readonly ProblemGroup[] {
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

function addLine(group: Group, line: number): void {
  const last = group.ranges.at(-1);
  group.rows += 1;
  if (group.isComplete && last?.last === line - 1) last.last = line;
  else if (group.ranges.length < RANGES_MAX) group.ranges.push({ first: line, last: line });
  else group.isComplete = false;
}
