/** Numbered migrations from earlier schemas, and how to tell a store's version. */
import { systemRandom } from "../../../runtime/random.ts";
import type { SqlValue } from "../database.ts";
import { COUNT_ALL } from "../lists/recount.ts";
import { BASELINE, createAll, createBaseline, createTable, type SchemaDialect } from "./baseline.ts";
import { ROW_COUNTS } from "./tables/answer-tables.ts";
import { OPERATION_LOG } from "./tables/project-tables.ts";
import { createViews } from "./views.ts";

/** One row per applied migration. A database with this table is ours. */
export const VERSIONS_TABLE = "schema_versions";

const SECRET_BYTES = 32;

export type Execute = (sql: string, values?: readonly SqlValue[]) => Promise<unknown>;

/**
 * Runs in a transaction. Each statement creates or changes a single object, because data files are compared with the
 * statements.
 */
export interface Migration {
  readonly version: number;
  readonly statements: (dialect: SchemaDialect) => readonly string[];
  readonly run?: (execute: Execute) => Promise<unknown>;
}

const COUNT_TRIGGERS = ["delivery_counts", "webhook_counts"].flatMap((table) =>
  ["new", "gone", "changed"].map((event) => `DROP TRIGGER ${table}_of_${event}`),
);

export const MIGRATIONS: readonly Migration[] = [
  { version: 2, statements: ({ int }) => [`ALTER TABLE digests ADD COLUMN allow_private ${int} NOT NULL DEFAULT 0`] },
  {
    version: 3,
    statements: (dialect) => [
      ...(dialect.engine === "sqlite" ? COUNT_TRIGGERS : []),
      ...["delivery_counts", "webhook_counts"].map(
        (name) => `DROP ${dialect.engine === "sqlite" ? "TABLE" : "VIEW"} ${name}`,
      ),
      "DROP TABLE list_tallies",
      createTable(ROW_COUNTS, dialect),
      ...COUNT_ALL,
    ],
  },
  { version: 4, statements: (dialect) => createAll(OPERATION_LOG, dialect) },
  { version: 5, statements: createViews },
  {
    version: 6,
    statements: ({ int }) => [
      ...["writes", "value_writes"].map((name) => `ALTER TABLE people ADD COLUMN ${name} ${int} NOT NULL DEFAULT 0`),
      `ALTER TABLE responses ADD COLUMN edits ${int}`,
    ],
  },
];

export const NEW_STORE: Migration = {
  version: BASELINE,
  statements: (dialect) => [
    `CREATE TABLE ${VERSIONS_TABLE} (version ${dialect.int} NOT NULL PRIMARY KEY, applied_at ${dialect.int} NOT NULL)`,
    ...createBaseline(dialect),
    ...createViews(dialect),
  ],
  // The secret is part of the schema, so that all backups recognize each other's erasures.
  run: (execute) =>
    execute("INSERT INTO store_secrets (name, value) VALUES ('erasure', ?)", [systemRandom.token(SECRET_BYTES)]),
};

export function stepsFrom(version: number, migrations: readonly Migration[]): readonly Migration[] {
  if (version === 0) return [NEW_STORE, ...stepsFrom(BASELINE, migrations)];
  return migrations.filter((migration) => migration.version > version);
}

export function newestVersion(migrations: readonly Migration[]): number {
  return Math.max(...migrations.map(({ version }) => version));
}

/** Existed before schema version 1; its version numbers no longer mean anything. */
const OUTDATED_TABLE = "schema_migrations";

export function recognizeSchema(tables: readonly string[]): "none" | "ours" | "outdated" | "foreign" {
  if (tables.length === 0) return "none";
  if (tables.includes(VERSIONS_TABLE)) return "ours";
  return tables.includes(OUTDATED_TABLE) && tables.includes("survey_requests") ? "outdated" : "foreign";
}

/** Completes a sentence that begins with the store's name. */
export const IS_OUTDATED =
  "was written by an older version, which this one cannot read; copy it with `service backup` of that version, and start with a new one";

export function namesAt(
  version: number,
  migrations: readonly Migration[],
  dialect: SchemaDialect,
): ReadonlySet<string> {
  const names = new Set<string>();
  const follow = (statements: readonly string[], undone = false): void => {
    for (const statement of statements) {
      const [, verb, name = ""] = /^(CREATE|DROP) (?:UNIQUE )?(?:TABLE|INDEX|TRIGGER) (\w+)/.exec(statement) ?? [];
      if (verb !== undefined && (verb === "CREATE") !== undone) names.add(name);
      else names.delete(name);
    }
  };
  follow(NEW_STORE.statements(dialect));
  for (const { version: to, statements } of migrations) if (to > BASELINE && to <= version) follow(statements(dialect));
  for (const { version: to, statements } of migrations.toReversed())
    if (to <= BASELINE && to > version) follow(statements(dialect).toReversed(), true);
  return names;
}
