import type { Command } from "commander";
import { PLATFORMS } from "../../../../contract/resources.ts";
import { parseChoice, parseDuration } from "../../../args/values.ts";
import type { Flags } from "../../../args/flags.ts";
import { UsageError } from "../../../errors/usage-error.ts";
import { AUTOPILOT_CONFIGURATION } from "../../../render/resources.ts";
import type { CommandContext } from "../../../command/command-context.ts";
import { projectVerb } from "../project-verb.ts";

/** The change to make; nothing shows it. Throws UsageError. */
function readChange(flags: Flags): { readonly active?: boolean; readonly frequencySeconds?: number } {
  const [starts, stops] = [flags.is("--active"), flags.is("--inactive")];
  if (starts && stops) throw new UsageError("--active and --inactive cannot be used together");
  const frequencySeconds = flags.parse("--frequency", parseDuration);
  if (frequencySeconds === 0)
    throw new UsageError("--frequency: must be greater than 0", {
      hint: "a day is 1d; use --inactive to stop the surveys",
    });
  return {
    ...(starts || stops ? { active: starts } : {}),
    ...(frequencySeconds === null ? {} : { frequencySeconds }),
  };
}

export function registerAutopilot(parent: Command, context: CommandContext): void {
  projectVerb(context, parent, {
    kind: "autopilot",
    name: "autopilot",
    summary: "set or show Autopilot for one platform",
    examples: [
      "surveyctl service autopilot --platform email --active --frequency 90d --data survey.db",
      "surveyctl service autopilot --platform sms --inactive",
    ],
    flags: [
      { flag: "--platform", value: "platform", text: "how surveys are sent", choices: PLATFORMS, default: "email" },
      { flag: "--active", text: "send surveys" },
      { flag: "--inactive", text: "send nothing, keep the members" },
      { flag: "--frequency", value: "duration", text: "interval between two surveys to one person" },
    ],
    columns: AUTOPILOT_CONFIGURATION,
    details: ({ flags }) => ({
      platform: flags.parse("--platform", (text, flag) => parseChoice(text, flag, PLATFORMS)) ?? "email",
      ...readChange(flags),
    }),
  });
}
