import type { SqlValue } from "../sql-values.ts";

/** Inclusive, in Unix seconds; null means open. */
export interface TimeRange {
  readonly since: number | null;
  readonly until: number | null;
}

export interface Where {
  readonly clauses: string[];
  readonly values: SqlValue[];
}

export function addCondition(where: Where, clause: string, ...values: readonly SqlValue[]): void {
  where.clauses.push(clause);
  where.values.push(...values);
}

export function addRange(where: Where, column: string, { since, until }: TimeRange): void {
  if (since !== null) addCondition(where, `${column} >= ?`, since);
  if (until !== null) addCondition(where, `${column} <= ?`, until);
}

export function whereSql(where: Where): string {
  return where.clauses.join(" AND ");
}

export function copyWhere({ clauses, values }: Where): Where {
  return { clauses: [...clauses], values: [...values] };
}

/**
 * The engine builds the JSON, because that is several times faster than reading columns and building it here. Parts are
 * arguments of `concat`.
 */
export function jsonObject(members: readonly (readonly [name: string, part: string])[]): string {
  const parts = members.map(([name, part], index) => `'${index === 0 ? "{" : ","}"${name}":', ${part}`);
  // Merges adjacent literals, because every argument costs time for every row.
  return `concat(${[...parts, "'}'"].join(", ").replaceAll("', '", "")})`;
}

export function jsonText(column: string): string {
  return `json_quote(${column})`;
}

export function jsonNumber(column: string): string {
  return `coalesce(CAST(${column} AS TEXT), 'null')`;
}
