/** One export whose target, state and connection are open. */
import type { SinkTotals } from "../../bulk/export/byte-sink.ts";
import type { ExportTotals } from "../../bulk/export/run-export.ts";
import { createProgress } from "../command/progress.ts";
import { formatReport } from "./report.ts";
import { beginIncrement } from "./increment.ts";
import type { OpenedExport } from "./opened.ts";
import { readRows } from "./rows.ts";

export async function runOpened(opened: OpenedExport): Promise<void> {
  const { deps, request, plan, output } = opened;
  const increment = await beginIncrement(opened);
  await output.keepOld(increment.keptBytes);
  const progress = createProgress(deps, request.resource.noun, plan.file === null);
  const ended = new AbortController();
  try {
    const { totals, counted, log } = await readRows(opened, increment, { progress, ended: ended.signal });
    deps.signal.throwIfAborted();
    const written = await output.commit();
    await progress.end();
    // From here on the data is safe; what follows tells of it.
    await increment.finish(log, written);
    await report(opened, totals, written, await counted);
  } finally {
    // A count that is still under way is of no use to a run that failed.
    ended.abort();
    await progress.end();
  }
}

async function report(
  { deps, request, plan }: OpenedExport,
  totals: ExportTotals,
  written: SinkTotals,
  counted: number | null,
): Promise<void> {
  if (deps.options.quiet) return;
  await deps.streams.err.write(
    formatReport({ noun: request.resource.noun, file: plan.file, totals, written, counted }),
  );
}
