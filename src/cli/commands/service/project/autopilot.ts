import type { Command } from "commander";
import { type Platform, PLATFORMS } from "../../../../contract/resources.ts";
import { parseChoice, parseDuration } from "../../../args/values.ts";
import type { Deps } from "../../../command/deps.ts";
import { UsageError } from "../../../errors/usage-error.ts";
import { EXIT, type ExitCode } from "../../../exit-codes.ts";
import { AUTOPILOT_CONFIGURATION } from "../../../render/resources.ts";
import type { CommandContext } from "../../../command/command-context.ts";
import { PROJECT_FLAGS, type ProjectChoice, readProject, showRecord, withAdmin } from "../data/data-file.ts";

export interface ServiceAutopilotOptions extends ProjectChoice {
  readonly platform: Platform;
  /** Null leaves it as it is. */
  readonly active: boolean | null;
  readonly frequencySeconds: number | null;
}

export async function runServiceAutopilot(deps: Deps, options: ServiceAutopilotOptions): Promise<ExitCode> {
  const { project, platform, active, frequencySeconds, ...choice } = options;
  if (frequencySeconds === 0)
    throw new UsageError("--frequency: must be greater than 0", {
      hint: "a day is 1d; use --inactive to stop the surveys",
    });
  const change = { ...(active === null ? {} : { active }), ...(frequencySeconds === null ? {} : { frequencySeconds }) };
  const configuration = await withAdmin(deps, choice, (admin) =>
    admin({ kind: "autopilot", project, platform, ...change }),
  );
  await showRecord(deps, AUTOPILOT_CONFIGURATION, configuration);
  return EXIT.done;
}

export function registerAutopilot(parent: Command, context: CommandContext): void {
  const verb = context.verb(parent, {
    name: "autopilot",
    summary: "set or show Autopilot for one platform",
    examples: [
      "surveyctl service autopilot --platform email --active --frequency 90d --data survey.db",
      "surveyctl service autopilot --platform sms --inactive",
    ],
    exits: [EXIT.done, EXIT.failed, EXIT.refused],
    flags: [
      ...PROJECT_FLAGS,
      { flag: "--platform", value: "platform", text: "how surveys are sent", choices: PLATFORMS, default: "email" },
      { flag: "--active", text: "send surveys" },
      { flag: "--inactive", text: "send nothing, keep the members" },
      { flag: "--frequency", value: "duration", text: "interval between two surveys to one person" },
    ],
    columns: AUTOPILOT_CONFIGURATION,
  });
  context.action(verb, (deps, flags) => {
    if (flags.is("--active") && flags.is("--inactive"))
      throw new UsageError("--active and --inactive cannot be used together");
    return runServiceAutopilot(deps, {
      ...readProject(flags),
      platform: flags.parse("--platform", (text, flag) => parseChoice(text, flag, PLATFORMS)) ?? "email",
      active: flags.is("--active") ? true : flags.is("--inactive") ? false : null,
      frequencySeconds: flags.parse("--frequency", parseDuration),
    });
  });
}
