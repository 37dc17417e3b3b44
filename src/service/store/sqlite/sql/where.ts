/** A WHERE clause as a list of conditions beside the list of their values. */
import type { TimeRange } from "../../../domain/inputs.ts";
import type { SqlValue } from "../engine/engine.ts";

export interface Where {
  readonly clauses: string[];
  readonly values: SqlValue[];
}

/** Adds a condition whose `?` stand for these values. */
export function addCondition(where: Where, clause: string, ...values: readonly SqlValue[]): void {
  where.clauses.push(clause);
  where.values.push(...values);
}

/** Adds the inclusive bounds that are not open. */
export function addRange(where: Where, column: string, { since, until }: TimeRange): void {
  if (since !== null) addCondition(where, `${column} >= ?`, since);
  if (until !== null) addCondition(where, `${column} <= ?`, until);
}

export function whereSql(where: Where): string {
  return where.clauses.join(" AND ");
}

/** One that can be added to without changing the other. */
export function copyWhere({ clauses, values }: Where): Where {
  return { clauses: [...clauses], values: [...values] };
}
