/** The number of rows in each state. */
import { FIND_MISCOUNTED_LISTS } from "../lists/recount.ts";

interface KeptCount {
  readonly name: string;
  /** The table whose rows are counted. */
  readonly of: string;
  /** The columns that say what a row counts for; the last one changes. */
  readonly by: readonly string[];
}

const DELIVERIES: KeptCount = { name: "delivery_counts", of: "messages", by: ["project_id", "channel", "state"] };
const WEBHOOKS: KeptCount = {
  name: "webhook_counts",
  of: "webhook_deliveries",
  by: ["project_id", "webhook_id", "state"],
};

const KEPT = [DELIVERIES, WEBHOOKS];
const TEXTS = new Set(["channel", "state"]);

/** A data file has the counts as tables, with triggers. */
export const COUNT_BY_TRIGGERS: readonly string[] = KEPT.flatMap((count) => {
  const { name, of, by } = count;
  const types = by.map((column) => `${column} ${TEXTS.has(column) ? "TEXT" : "INTEGER"} NOT NULL`);
  return [
    `CREATE TABLE ${name} (${types.join(", ")}, n INTEGER NOT NULL, PRIMARY KEY (${by.join(", ")})) WITHOUT ROWID`,
    `CREATE TRIGGER ${name}_of_new AFTER INSERT ON ${of} BEGIN ${add(count, "NEW", 1)} END`,
    `CREATE TRIGGER ${name}_of_gone AFTER DELETE ON ${of} BEGIN ${add(count, "OLD", -1)} END`,
    `CREATE TRIGGER ${name}_of_changed AFTER UPDATE OF state ON ${of} WHEN OLD.state <> NEW.state
     BEGIN ${add(count, "OLD", -1)} ${add(count, "NEW", 1)} END`,
  ];
});

/** A database has them as views: engines that spread over machines have no triggers. */
export const COUNT_BY_VIEWS: readonly string[] = KEPT.map(
  ({ name, of, by }) =>
    `CREATE VIEW ${name} AS SELECT ${by.join(", ")}, count(*) AS n FROM ${of} GROUP BY ${by.join(", ")}`,
);

function add({ name, by }: KeptCount, row: "OLD" | "NEW", n: number): string {
  return `INSERT INTO ${name} (${by.join(", ")}, n) VALUES (${by.map((column) => `${row}.${column}`).join(", ")}, ${n})
    ON CONFLICT (${by.join(", ")}) DO UPDATE SET n = n + ${n};`;
}

/** SQL that names the counts that are wrong, as `project_id` and `list`. */
function findMiscounted({ name, of, by }: KeptCount, list: string): string {
  const columns = by.join(", ");
  return `SELECT project_id, ${list} AS list FROM (SELECT ${columns}, n FROM ${name}
      UNION ALL SELECT ${columns}, -count(*) FROM ${of} GROUP BY ${columns}) AS counted
    GROUP BY ${columns} HAVING sum(n) <> 0`;
}

/** Each names the kept counts that are wrong, as `project_id` and `list`. */
export const FIND_MISCOUNTED: readonly string[] = [
  FIND_MISCOUNTED_LISTS,
  findMiscounted(DELIVERIES, "'deliveries ' || channel || ' ' || state"),
  findMiscounted(WEBHOOKS, "'webhook ' || webhook_id || ' ' || state"),
];
