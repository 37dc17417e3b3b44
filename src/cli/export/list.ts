/** What every `export` does: a list of the API into a file or stdout (design: "Export"). */
import type { Deps } from "../command/deps.ts";
import { EXIT, type ExitCode } from "../exit-codes.ts";
import { openOutput } from "./output.ts";
import { planExport } from "./plan.ts";
import type { ExportFlags, ExportRequest } from "./request.ts";
import { runOpened } from "./run.ts";
import { openState } from "./state.ts";

/** Everything that may be refused is refused before the first request: flags, the state, the target, then the connection. */
export async function exportList(deps: Deps, request: ExportRequest, flags: ExportFlags): Promise<ExitCode> {
  const plan = planExport(deps, request, flags);
  const state = flags.state === null ? null : await openState(deps, flags.state);
  try {
    const output = await openOutput(deps, { ...flags, ...plan });
    try {
      const connection = await deps.connect();
      try {
        await runOpened({ deps, request, flags, plan, state, output, connection });
      } finally {
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
