import type { PoolClient } from "pg";
import type { SqlRow } from "../../sql/database.ts";

export interface TransactionMark {
  readonly xid: string;
  readonly project: number;
  readonly version: number;
}

export type CommitOutcome = "committed" | "aborted" | "in progress" | "unknown";

/**
 * After a crash, the server may reuse a transaction's number, so a commit counts only if the project's version shows it
 * too.
 */
export async function askOutcome(
  client: PoolClient,
  { xid, project, version }: TransactionMark,
): Promise<CommitOutcome> {
  const status = await askStatus(client, xid);
  if (status !== "committed") return status;
  const { rows } = await client.query("SELECT 1 FROM project_state WHERE project_id = $1 AND version > $2", [
    project,
    version,
  ]);
  return rows.length > 0 ? "committed" : "aborted";
}

/** SQLSTATE for a transaction number that hasn't been assigned yet. */
const IN_THE_FUTURE = "22023";

async function askStatus(client: PoolClient, xid: string): Promise<CommitOutcome> {
  try {
    const { rows } = await client.query<{ status: CommitOutcome | null }>("SELECT pg_xact_status($1::xid8) AS status", [
      xid,
    ]);
    return rows[0]?.status ?? "unknown";
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === IN_THE_FUTURE) return "aborted";
    throw error;
  }
}

export function toMark({ xid, project_id: project, version }: SqlRow): TransactionMark {
  return { xid: String(xid), project: Number(project), version: Number(version) };
}
