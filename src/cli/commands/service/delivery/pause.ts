import type { Command } from "commander";
import type { FlagRecord } from "../../../args/flag-record.ts";
import type { CommandContext } from "../../../command/command-context.ts";
import type { Deps } from "../../../command/deps.ts";
import { writeDone } from "../../../command/notes.ts";
import { EXIT, type ExitCode } from "../../../exit-codes.ts";
import { DATA_FLAGS, type DataFileChoice, readPlace } from "../../../command/data-place.ts";
import { showRecord, withAdmin } from "../data/data-file.ts";
import { PAUSE } from "../service-resources.ts";
import { checkColumns } from "../../../render/record-output.ts";

interface PauseOptions extends DataFileChoice {
  /** Null for all projects. */
  readonly project: string | null;
  readonly paused: boolean;
}

async function runPause(deps: Deps, { project, paused, ...choice }: PauseOptions): Promise<ExitCode> {
  checkColumns(deps, PAUSE);
  const which = project === null ? {} : { project };
  const { pause, others } = await withAdmin(deps, choice, async (admin) => {
    const result = await admin({ kind: "pause", ...which, paused });
    return { pause: result, others: await admin({ kind: "delivery.status" }) };
  });
  await showRecord(deps, PAUSE, pause);
  const what = project === null ? "all projects" : `project ${project}`;
  await writeDone(deps, paused ? `Paused ${what}. The API keeps working; no survey is sent.` : `Resumed ${what}.`);
  if (paused) return EXIT.done;
  if (project === null && others.paused_projects.length > 0)
    await writeDone(deps, `Still paused on their own: ${others.paused_projects.join(", ")}.`);
  if (project !== null && others.paused_at !== null) await writeDone(deps, "All projects are still paused.");
  return EXIT.done;
}

const FLAGS: readonly FlagRecord[] = [
  ...DATA_FLAGS,
  { flag: "--project", value: "name", text: "only this project", otherwise: "all projects" },
];

export function registerPause(parent: Command, context: CommandContext): void {
  const pause = context.verb(parent, {
    name: "pause",
    summary: "stop sending surveys; they wait until `service resume`",
    examples: ["surveyctl service pause --data survey.db", "surveyctl service pause --project acme"],
    exits: [EXIT.done, EXIT.failed, EXIT.refused],
    flags: FLAGS,
    columns: PAUSE,
  });
  context.action(pause, (deps, flags) =>
    runPause(deps, { data: readPlace(flags), project: flags.text("--project"), paused: true }),
  );
  const resume = context.verb(parent, {
    name: "resume",
    summary: "send surveys again after `service pause`",
    examples: ["surveyctl service resume --data survey.db", "surveyctl service resume --project acme"],
    exits: [EXIT.done, EXIT.failed, EXIT.refused],
    flags: FLAGS,
    columns: PAUSE,
  });
  context.action(resume, (deps, flags) =>
    runPause(deps, { data: readPlace(flags), project: flags.text("--project"), paused: false }),
  );
}
