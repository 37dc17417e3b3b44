/** The register half of exports that are filtered by one time alone. */
import type { Command } from "commander";
import type { Deps } from "../../deps.ts";
import type { ExitCode } from "../../exit-codes.ts";
import type { CommandContext } from "../command-context.ts";
import { addExportFlags, describeFilters, EXPORT_EXITS, readExportFlags } from "./export-flags.ts";
import type { RangeExportOptions } from "./export-request.ts";
import { addRangeFlags, readRange } from "../time-flags.ts";

export interface RangeExport {
  readonly summary: string;
  readonly examples: readonly string[];
  /** What happened at the time that `--since` and `--until` are about: "created". */
  readonly what: string;
  readonly run: (deps: Deps, options: RangeExportOptions) => Promise<ExitCode>;
}

export function registerRangeExport(noun: Command, context: CommandContext, { summary, examples, what, run }: RangeExport): void {
  const command = context.verb(noun, { name: "export", summary, examples, exits: EXPORT_EXITS });
  addRangeFlags(command, what);
  addExportFlags(command, { hasState: true });
  context.action(command, (deps, flags) =>
    run(deps, { flags: readExportFlags(flags), ...readRange(deps, flags), filterText: describeFilters(flags, ["--since", "--until"]) }),
  );
}
