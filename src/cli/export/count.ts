/** The service's own count of what is exported, asked for beside the rows. */
import type { FetchedPage } from "../../bulk/export/lists.ts";
import type { Progress } from "../command/progress.ts";
import type { Increment } from "./increment.ts";
import type { OpenedExport } from "./opened.ts";

/** What goes on beside the rows: progress, and requests that end with the run. */
export interface Beside {
  readonly progress: Progress;
  readonly ended: AbortSignal;
}

export interface Count {
  begin(first: FetchedPage, until: number): void;
  result(): Promise<number | null>;
}

export function createCount(
  { request, connection }: OpenedExport,
  { isWhole, source }: Increment,
  { progress, ended }: Beside,
): Count {
  let asked: Promise<number | null> = Promise.resolve(null);
  return {
    begin(first, until) {
      const since = source.range.since ?? firstTime(first, source);
      if (!isWhole || request.count === null || since === null) return;
      asked = orNull(request.count(connection.client, { since, until }, ended)).then((rows) => {
        if (rows !== null) progress.expect(rows);
        return rows;
      });
    },
    result: () => asked,
  };
}

/** A bound that every row has: some services count only the last month when they are given none. */
function firstTime({ rows: [row] }: FetchedPage, { keys }: Increment["source"]): number | null {
  return row === undefined ? null : keys.at(row);
}

/** What is only good to know must not fail the export. */
async function orNull(work: Promise<number | null> | undefined): Promise<number | null> {
  try {
    return (await work) ?? null;
  } catch {
    return null;
  }
}
