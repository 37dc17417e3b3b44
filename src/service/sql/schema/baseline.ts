/** The schema of new stores, for both engines. Older stores reach it by migrations. */
import type { Table } from "./table.ts";
import { ANSWER_TABLES } from "./tables/answer-tables.ts";
import { DELIVERY_TABLES } from "./tables/delivery-tables.ts";
import { PEOPLE_TABLES } from "./tables/people-tables.ts";
import { PROJECT_TABLES } from "./tables/project-tables.ts";
import { WEBHOOK_TABLES } from "./tables/webhook-tables.ts";

export const BASELINE = 6;

/** An engine's names for the two column types, and its options for a table. */
export interface SchemaDialect {
  readonly engine: "sqlite" | "postgresql";
  readonly int: string;
  readonly text: string;
  readonly behind: (table: Table) => string;
}

export const TABLES: readonly Table[] = [
  ...PROJECT_TABLES,
  ...PEOPLE_TABLES,
  ...DELIVERY_TABLES,
  ...ANSWER_TABLES,
  ...WEBHOOK_TABLES,
];

/** The row for writes that belong to no project. */
const STATE = "INSERT INTO project_state (project_id, next_id, clock, version) VALUES (0, 1, 0, 0)";

/** Each statement creates one object. */
export function createBaseline(dialect: SchemaDialect): readonly string[] {
  return [...TABLES.flatMap((table) => createAll(table, dialect)), STATE];
}

export function createTable(table: Table, dialect: SchemaDialect): string {
  const { name, columns, key, references = [] } = table;
  const parts = columns.split(/,\s+/).map((column) => {
    const [, title = "", type = "", isOpen, value] = /^(\w+) (int|text)(\?)?(?: = (.+))?$/.exec(column) ?? [];
    const rest = `${isOpen === undefined ? " NOT NULL" : ""}${value === undefined ? "" : ` DEFAULT ${value}`}`;
    return `${title} ${dialect[type as "int" | "text"]}${rest}`;
  });
  const all = [...parts, `PRIMARY KEY (${key})`, ...references.map((reference) => `FOREIGN KEY ${reference}`)];
  return `CREATE TABLE ${name} (${all.join(", ")})${dialect.behind(table)}`;
}

export function createAll(table: Table, dialect: SchemaDialect): string[] {
  return [createTable(table, dialect), ...createIndexes(table)];
}

function createIndexes({ name, indexes = {} }: Table): string[] {
  return Object.entries(indexes).map(([index, columns]) => {
    const unique = columns.startsWith("UNIQUE ") ? "UNIQUE " : "";
    return `CREATE ${unique}INDEX ${index} ON ${name} ${columns.slice(unique.length)}`;
  });
}
