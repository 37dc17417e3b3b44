import type { Connection, Deps } from "../command/deps.ts";
import type { ExportOutput } from "./output.ts";
import type { ExportPlan } from "./plan.ts";
import type { ExportFlags, ExportRequest } from "./request.ts";
import type { StateFile } from "./state.ts";

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
