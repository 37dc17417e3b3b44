import { writeDone } from "../../../kit/notes.ts";
import { EXIT } from "../../../exit-codes.ts";
import type { CommandNode } from "../../../kit/command-node.ts";
import { defineCommand } from "../../../kit/define-command.ts";
import { checkColumns } from "../../../render/record-output.ts";
import { PLACE, showRecord, withAdmin } from "../data/data-file.ts";
import { toResource } from "../service-resources.ts";

const PAUSE = toResource("settings", { project: "text", paused_at: "time" });

function pauseCommand(kind: "pause" | "resume", summary: string): CommandNode {
  return defineCommand({
    name: kind,
    summary,
    examples: [`surveyctl service ${kind} --data survey.db`, `surveyctl service ${kind} --project acme`],
    exits: [EXIT.done, EXIT.failed, EXIT.refused],
    flags: {
      place: PLACE,
      project: { flag: "--project", value: "name", text: "only this project", otherwise: "all projects" },
    },
    columns: PAUSE,
    run: async (deps, { place, project }) => {
      checkColumns(deps, PAUSE);
      const { pause, others } = await withAdmin(deps, { ...place, changes: true }, async (admin) => ({
        pause: await admin({ kind, project }),
        others: await admin({ kind: "delivery.status" }),
      }));
      await showRecord(deps, PAUSE, pause);
      const what = project === null ? "all projects" : `project ${project}`;
      if (kind === "pause") return writeDone(deps, `Paused ${what}. The API keeps working; no survey is sent.`);
      await writeDone(deps, `Resumed ${what}.`);
      if (project === null && others.paused_projects.length > 0)
        await writeDone(deps, `Still paused on their own: ${others.paused_projects.join(", ")}.`);
      if (project !== null && others.paused_at !== null) await writeDone(deps, "All projects are still paused.");
    },
  });
}

export const pause = pauseCommand("pause", "stop sending surveys; they wait until `service resume`");
export const resume = pauseCommand("resume", "send surveys again after `service pause`");
