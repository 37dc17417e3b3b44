/** A write's changes to list counts, added up in memory and saved in one statement. */
import { scoreCategory } from "../../../contract/limits.ts";
import { utcDay } from "../../../runtime/zone.ts";
import type { SqlValue } from "../sql-values.ts";
import { COUNTED_LISTS, type CountedList, fillName, isMember } from "./counted-lists.ts";

export interface Counts {
  readonly n: number;
  readonly promoters: number;
  readonly passives: number;
  readonly detractors: number;
}

const NO_COUNTS: Counts = { n: 0, promoters: 0, passives: 0, detractors: 0 };

export function addCounts(one: Counts, other: Counts, sign: number): Counts {
  return {
    n: one.n + sign * other.n,
    promoters: one.promoters + sign * other.promoters,
    passives: one.passives + sign * other.passives,
    detractors: one.detractors + sign * other.detractors,
  };
}

/** Counts are also stored per block of days, which makes sums over years fast. */
export const BLOCK_DAYS = 32;
/** The `span` of lists without days. */
export const WHOLE = 0;

const NPS = "nps";

interface Change extends Counts {
  readonly project: SqlValue;
  readonly list: string;
  readonly span: number;
  readonly number: number;
}

/** Maximum rows per statement; the statement for each number of rows is prepared once. */
const ROWS_MAX = 40;
const ROW = "(?, ?, ?, ?, ?, ?, ?, ?)";

export class CountChanges {
  #changes = new Map<string, Change>();

  /** `sign` is 1 for a new row and -1 for a removed one. */
  add(table: string, row: Readonly<Record<string, SqlValue>>, sign: 1 | -1): void {
    for (const list of COUNTED_LISTS) {
      if (list.table !== table || !isMember(list, row)) continue;
      const counts = countRow(list, row);
      const [project = null, name] = [row["project_id"], fillName(list, row)];
      if (list.at === undefined) this.#change({ project, list: name, span: WHOLE, number: 0, ...counts }, sign);
      else {
        const day = utcDay(Number(row[list.at]));
        this.#change({ project, list: name, span: 1, number: day, ...counts }, sign);
        const block = Math.floor(day / BLOCK_DAYS);
        this.#change({ project, list: name, span: BLOCK_DAYS, number: block, ...counts }, sign);
      }
    }
  }

  #change(change: Change, sign: 1 | -1): void {
    const key = `${change.project} ${change.span} ${change.number} ${change.list}`;
    this.#changes.set(key, { ...change, ...addCounts(this.#changes.get(key) ?? NO_COUNTS, change, sign) });
  }

  /** Call it when the project's counts have been deleted. */
  forget(project: number): void {
    for (const [key, change] of this.#changes) if (change.project === project) this.#changes.delete(key);
  }

  mark(): ReadonlyMap<string, Change> {
    return new Map(this.#changes);
  }

  restore(mark: ReadonlyMap<string, Change>): void {
    this.#changes = new Map(mark);
  }

  take(): readonly { readonly sql: string; readonly values: readonly SqlValue[] }[] {
    const rows = [...this.#changes.values()]
      .filter(
        ({ n, promoters, passives, detractors }) => n !== 0 || promoters !== 0 || passives !== 0 || detractors !== 0,
      )
      .map((row) => [row.project, row.span, row.list, row.number, row.n, row.promoters, row.passives, row.detractors]);
    if (this.#changes.size > 0) this.#changes = new Map();
    return Array.from({ length: Math.ceil(rows.length / ROWS_MAX) }, (_, at) => {
      const some = rows.slice(at * ROWS_MAX, (at + 1) * ROWS_MAX);
      return { sql: `${STORE} VALUES ${some.map(() => ROW).join(", ")} ${ADD}`, values: some.flat() };
    });
  }
}

const STORE = "INSERT INTO row_counts (project_id, span, list, number, n, promoters, passives, detractors)";
const ADD = `ON CONFLICT (project_id, span, list, number) DO UPDATE SET n = row_counts.n + excluded.n,
  promoters = row_counts.promoters + excluded.promoters, passives = row_counts.passives + excluded.passives,
  detractors = row_counts.detractors + excluded.detractors`;

function countRow({ isScored = false }: CountedList, row: Readonly<Record<string, SqlValue>>): Counts {
  if (!isScored || row["survey_type"] !== NPS) return { ...NO_COUNTS, n: 1 };
  return { ...NO_COUNTS, n: 1, [`${scoreCategory(Number(row["score"]))}s`]: 1 };
}
