import type { Deps } from "../kit/deps.ts";
import { describeRetries, writeDone, writeNote } from "../kit/notes.ts";
import { createProgress } from "../kit/progress.ts";
import { CommandError } from "../errors/usage-error.ts";
import { EXIT, type ExitCode } from "../exit-codes.ts";
import { checkOldFile } from "./append.ts";
import { beginIncrement, openState, type OpenedExport } from "./increment.ts";
import { openOutput } from "./output.ts";
import { planExport, refuseStateAsTarget } from "./plan.ts";
import { describeMissing, writeReport } from "./report.ts";
import type { ExportFlags, ExportRequest } from "./request.ts";
import { readRows } from "./rows.ts";
import type { CountRange } from "./snapshot.ts";

export async function exportList(deps: Deps, request: ExportRequest, flags: ExportFlags): Promise<ExitCode> {
  const plan = planExport(deps, request, flags);
  await refuseStateAsTarget(plan, flags);
  const state = flags.state === null ? null : await openState(deps, flags.state);
  try {
    const output = await openOutput(deps, { ...flags, ...plan });
    try {
      const connection = await deps.connect();
      try {
        const target = plan.format === "parquet" ? (await import("./parquet-file.ts")).toParquet(output) : output;
        await runOpened({ deps, request, flags, plan, state, output: target, connection });
        await connection.onDone?.();
      } finally {
        const retries = describeRetries(connection);
        if (retries !== null) await writeDone(deps, retries);
        await connection.close();
      }
    } finally {
      await output.discard();
    }
  } finally {
    await state?.release();
  }
  return EXIT.done;
}

async function runOpened(opened: OpenedExport): Promise<void> {
  const { deps, request, flags, plan, output } = opened;
  const increment = await beginIncrement(opened);
  if (flags.append) {
    await checkOldFile(opened);
    await output.keepOld(output.oldBytes);
  }
  const progress = createProgress(deps, request.resource.noun, plan.file === null ? deps.streams.out : null);
  const ended = new AbortController();
  try {
    const { totals, counted, log } = await readRows(opened, increment, progress, ended.signal);
    deps.signal.throwIfAborted();
    const written = await output.close();
    refuseShorter(opened, totals.rows, await counted);
    await increment.announce(log, written);
    await output.commit(written);
    await progress.end();
    await increment.finish(log, written);
    await request.shaping?.writeNotes();
    await writeReport(deps, {
      noun: request.resource.noun,
      file: plan.file,
      range: increment.source.range,
      totals,
      written,
      counted: await counted,
    });
  } catch (error) {
    await progress.end();
    if (deps.signal.aborted && plan.file !== null)
      await writeNote(deps, `${plan.file} ${output.oldBytes > 0 ? "is unchanged" : "was not written"}`);
    throw error;
  } finally {
    ended.abort();
    await progress.end();
  }
}

function refuseShorter({ request, flags, plan, output }: OpenedExport, rows: number, counted: CountRange | null): void {
  const missing = describeMissing(request.resource.noun, rows, { counted, came: "sent" });
  if (missing === null || flags.append || output.oldBytes === 0) return;
  throw new CommandError("rows_missing", `${missing}; ${plan.file ?? ""} is unchanged`, EXIT.failed, {
    hint: "to take what the service sent, use another --out file",
  });
}
