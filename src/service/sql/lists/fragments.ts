/** Fragments of SQL: conditions with their values, and rows rendered as JSON. */
import type { SqlValue } from "../sql-values.ts";

/** Inclusive at both ends, Unix seconds; null is open. */
export interface TimeRange {
  readonly since: number | null;
  readonly until: number | null;
}

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

/**
 * An object whose members are rendered by these parts; names are our own. The engine renders a row as JSON text,
 * several times cheaper than carrying its columns over. Each part is a list of arguments of `concat`, which takes null
 * as nothing.
 */
export function jsonObject(members: readonly (readonly [name: string, part: string])[]): string {
  const parts = members.map(([name, part], index) => `'${index === 0 ? "{" : ","}"${name}":', ${part}`);
  // Two literals side by side as one: every argument of every row counts.
  return `concat(${[...parts, "'}'"].join(", ").replaceAll("', '", "")})`;
}

/** Text or null. */
export function jsonText(column: string): string {
  return `json_quote(${column})`;
}

/** A number or null. */
export function jsonNumber(column: string): string {
  return `coalesce(CAST(${column} AS TEXT), 'null')`;
}
