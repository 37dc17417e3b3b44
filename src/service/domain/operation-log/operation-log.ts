/** The operation log: API calls that overwrite data, and maintenance of the whole data file. */
import { DAY_SECONDS } from "../../../runtime/zone.ts";
import type { Project } from "../inputs.ts";
import type { Store, Transaction } from "../ports.ts";
import type { Actor, Overwritten } from "./operation-log-rows.ts";

export const LOG_KEPT = 400 * DAY_SECONDS;
export const LOG_KEPT_MIN = 30 * DAY_SECONDS;
export const LOG_AGE_FORM = "an age of 30d or more, such as 400d or 2y";

/** Records the change for the log if an API call made it. */
export function noteOverwritten(tx: Transaction, operation: string, id: number, fields: readonly string[] = []): void {
  tx.overwritten?.push({ operation, id, fields });
}

/** Each person or response that the call overwrites gets one line in the log. */
export function writeAsCaller<Result>(
  store: Store,
  project: Project,
  actor: Actor,
  work: (tx: Transaction) => Promise<Result>,
): Promise<Result> {
  return store.write(
    async (tx) => {
      const overwritten: Overwritten[] = [];
      const result = await work(Object.assign(tx, { overwritten }));
      const deeds = mergeByRow(overwritten).map(({ operation, id, fields }) => {
        return { operation, what: [id, ...fields].join(" "), result: null };
      });
      tx.operationLog.add([project], actor, deeds, "all");
      return result;
    },
    { project: project.id },
  );
}

/** A call may change the same row twice. */
function mergeByRow(overwritten: readonly Overwritten[]): Overwritten[] {
  const byRow = new Map<string, Overwritten>();
  for (const each of overwritten) {
    const key = `${each.operation} ${each.id}`;
    byRow.set(key, { ...each, fields: [...new Set([...(byRow.get(key)?.fields ?? []), ...each.fields])] });
  }
  return [...byRow.values()];
}

/** Adds the line to one project's log or, by default, to all. */
export async function noteWhole(tx: Transaction, operation: string, user: string, project?: Project): Promise<void> {
  const projects = project === undefined ? await tx.projects.list() : [project];
  tx.operationLog.add(projects, { key: null, name: user }, [{ operation, what: "", result: null }], "all");
}
