/** The schema of a new data file, made at once; later migrations follow on it. */
import { BASELINE, createBaseline } from "../sql/schema/baseline.ts";
import { COUNT_DELIVERIES } from "../sql/schema/delivery-schema.ts";
import type { Migration } from "../sql/schema/migrations.ts";
import { makeErasureSecret } from "../sql/schema/privacy-schema.ts";
import { COUNT_WEBHOOKS } from "../sql/schema/webhook-schema.ts";

const TABLES = createBaseline({
  int: "INTEGER",
  text: "TEXT",
  behind: ({ isClustered }) => (isClustered === true ? " WITHOUT ROWID" : ""),
});

/** One thing each. */
export const NEW_FILE_PARTS: readonly string[] = [...TABLES, ...COUNT_DELIVERIES, ...COUNT_WEBHOOKS];

export const NEW_FILE: Migration = {
  version: BASELINE,
  statements: [NEW_FILE_PARTS.join(";\n")],
  run: makeErasureSecret,
};
