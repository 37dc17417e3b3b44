import type { CommandNode } from "../../../kit/command-node.ts";
import { serviceCommand } from "../service-command.ts";

function pauseCommand(operation: "pause" | "resume", summary: string): CommandNode {
  return serviceCommand({
    operation,
    summary,
    examples: [`surveyctl service ${operation} --data survey.db`, `surveyctl service ${operation} --project acme`],
    flags: { project: { value: "name", text: "only this project", otherwise: "all projects" } },
    noun: "settings",
    input: () => ({}),
    done: ({ project, all_paused_at: allPausedAt, paused_projects: others }) => {
      const what = project === null ? "all projects" : `project ${project}`;
      if (operation === "pause") return `Paused ${what}. The API keeps working; no survey is sent.`;
      return [
        `Resumed ${what}.`,
        ...(others.length > 0 ? [`Still paused on their own: ${others.join(", ")}.`] : []),
        ...(allPausedAt === null ? [] : ["All projects are still paused."]),
      ].join("\n");
    },
  });
}

export const pause = pauseCommand("pause", "stop sending surveys; they wait until `service resume`");
export const resume = pauseCommand("resume", "send surveys again after `service pause`");
