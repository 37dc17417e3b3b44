/** The schema of a new data file. */
import { BASELINE, createBaseline } from "../sql/schema/baseline.ts";
import { COUNT_BY_TRIGGERS } from "../sql/schema/kept-counts.ts";
import { makeErasureSecret, type Migration, VERSIONS_TABLE } from "../sql/schema/migrations.ts";

const TABLES = createBaseline({
  int: "INTEGER",
  text: "TEXT",
  behind: ({ isClustered }) => (isClustered === true ? " WITHOUT ROWID" : ""),
});

export const NEW_FILE: Migration = {
  version: BASELINE,
  statements: [
    `CREATE TABLE ${VERSIONS_TABLE} (version INTEGER NOT NULL PRIMARY KEY, applied_at INTEGER NOT NULL)`,
    ...TABLES,
    ...COUNT_BY_TRIGGERS,
  ],
  run: makeErasureSecret,
};
