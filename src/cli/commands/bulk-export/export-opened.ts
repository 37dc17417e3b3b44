import type { Connection, Deps } from "../../deps.ts";
import type { ExportOutput } from "./export-output.ts";
import type { ExportPlan } from "./export-plan.ts";
import type { ExportFlags, ExportRequest } from "./export-request.ts";
import type { StateFile } from "./export-state.ts";

/** One run and all that it has in hand. */
export interface OpenedExport {
  readonly deps: Deps;
  readonly request: ExportRequest;
  readonly flags: ExportFlags;
  readonly plan: ExportPlan;
  readonly state: StateFile | null;
  readonly output: ExportOutput;
  readonly connection: Connection;
}
