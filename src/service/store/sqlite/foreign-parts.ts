/**
 * Parts that a data file should have and has not, and parts that no version of ours has made: a trigger may change what
 * we write, a column keep a row out.
 */
import { namesOf } from "../sql/schema/migrations.ts";
import type { SqliteDatabase } from "./engine/database.ts";

/** Tables, indexes and triggers that these statements make and that are not there. */
export function findMissing(database: SqliteDatabase, statements: readonly string[]): string[] {
  const present = new Set(database.all("SELECT name FROM sqlite_master").map(({ name }) => String(name)));
  return [...namesOf(statements)].filter((name) => !present.has(name));
}

/**
 * The first part that is not ours, in words; null when there is none. `statements` make today's schema, one thing each.
 */
export function findForeign(database: SqliteDatabase, statements: readonly string[]): string | null {
  const known = namesOf(statements);
  const triggers = new Set(statements.map(plain));
  const columns = columnsOf(statements);
  const parts = database.all(
    "SELECT type, name, tbl_name, sql FROM sqlite_master WHERE name NOT LIKE 'sqlite~_%' ESCAPE '~' ORDER BY type, name",
  );
  for (const part of parts) {
    const [type, name, sql] = [String(part.type), String(part.name), String(part.sql)];
    if (!known.has(name) || (type === "trigger" && !triggers.has(plain(sql))))
      return `${type === "index" ? "an" : "a"} ${type} that is not surveyctl's: ${name}${placeOf(type, String(part.tbl_name))}`;
    const column = type === "table" ? readColumns(sql).find((one) => columns.get(name)?.has(one) === false) : undefined;
    if (column !== undefined) return `a column that is not surveyctl's: ${name}.${column}`;
  }
  return null;
}

function placeOf(type: string, table: string): string {
  return type === "trigger" || type === "index" ? `, on ${table}` : "";
}

/** SQLite keeps a statement as it was written, but for names that it has quoted. */
function plain(sql: string): string {
  return sql.replaceAll(/[\s"]+/g, "");
}

/** Of each table that the statements make. */
function columnsOf(statements: readonly string[]): ReadonlyMap<string, ReadonlySet<string>> {
  const columns = new Map<string, Set<string>>();
  for (const statement of statements) {
    const created = /^\s*CREATE TABLE (\w+)/.exec(statement)?.[1];
    if (created !== undefined) columns.set(created, new Set(readColumns(statement)));
    const [, table = "", verb, column = "", to = ""] =
      /^\s*ALTER TABLE (\w+) (ADD|DROP|RENAME) COLUMN (\w+)(?: TO (\w+))?/.exec(statement) ?? [];
    if (verb === "DROP" || verb === "RENAME") columns.get(table)?.delete(column);
    if (verb === "ADD" || verb === "RENAME") columns.get(table)?.add(verb === "ADD" ? column : to);
    const [, from = "", renamed] = /^\s*ALTER TABLE (\w+) RENAME TO (\w+)/.exec(statement) ?? [];
    if (renamed !== undefined) columns.set(renamed, columns.get(from) ?? new Set());
  }
  return columns;
}

const TOKEN = /'(?:[^']|'')*'|"(?:[^"]|"")*"|`[^`]*`|\[[^\]]*\]|--[^\n]*|\w+|[^\s\w]/g;
const CONSTRAINTS = new Set(["PRIMARY", "FOREIGN", "UNIQUE", "CHECK", "CONSTRAINT"]);

/** The columns that a CREATE TABLE statement names. */
function readColumns(sql: string): string[] {
  const found: string[] = [];
  let depth = 0;
  let isBeginning = false;
  for (const [token] of sql.matchAll(TOKEN)) {
    if (token.startsWith("--")) continue;
    if (isBeginning && !CONSTRAINTS.has(token.toUpperCase())) found.push(token.replaceAll(/^["'`[]|["'`\]]$/g, ""));
    if (token === "(") depth += 1;
    if (token === ")") depth -= 1;
    isBeginning = depth === 1 && (token === "," || (token === "(" && !isBeginning && found.length === 0));
  }
  return found;
}
