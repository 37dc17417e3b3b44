import type { Command } from "commander";
import type { Client } from "../../../client/client.ts";
import { type Platform, PLATFORMS } from "../../../contract/resources.ts";
import { endTogether } from "../../../runtime/parallel.ts";
import { parseChoice } from "../../args/values.ts";
import { type Deps, withClient } from "../../command/deps.ts";
import { EXIT, type ExitCode } from "../../exit-codes.ts";
import { chooseFormat, openListOutput } from "../../render/list-output.ts";
import { checkColumns, type RecordValue, writeRecord } from "../../render/record-output.ts";
import { AUTOPILOT_CONFIGURATION } from "../../render/resources.ts";
import type { CommandContext } from "../../command/command-context.ts";

export function registerAutopilotConfig(noun: Command, context: CommandContext): void {
  const command = context.verb(noun, {
    name: "config",
    summary: "show one or both platforms' configuration",
    examples: ["surveyctl autopilot config", "surveyctl autopilot config --platform email --json"],
    exits: [EXIT.done, EXIT.failed, EXIT.auth, EXIT.refused],
    flags: [{ flag: "--platform", value: "platform", text: "platform to show", choices: PLATFORMS, otherwise: "both" }],
    columns: AUTOPILOT_CONFIGURATION,
  });
  context.action(command, (deps, flags) =>
    runAutopilotConfig(deps, {
      platform: flags.parse("--platform", (text, place) => parseChoice(text, place, PLATFORMS)),
    }),
  );
}

/** `platform` null shows both, as an array in JSON and as two records in text. */
export async function runAutopilotConfig(
  deps: Deps,
  { platform }: { readonly platform: Platform | null },
): Promise<ExitCode> {
  checkColumns(deps, AUTOPILOT_CONFIGURATION);
  const platforms = platform === null ? PLATFORMS : [platform];
  const configurations = await withClient(deps, (client) => readAll(client, platforms, deps.signal));
  await (platform === null ? writeBoth(deps, configurations) : writeRecords(deps, configurations, ""));
  return EXIT.done;
}

function readAll(client: Client, platforms: readonly Platform[], signal: AbortSignal): Promise<RecordValue[]> {
  return endTogether(signal, (own) =>
    Promise.all(platforms.map((platform) => client.getAutopilot(platform, { signal: own }))),
  );
}

async function writeBoth(deps: Deps, configurations: readonly RecordValue[]): Promise<void> {
  const format = chooseFormat(deps);
  if (format === "table" || format === "record") return writeRecords(deps, configurations, "\n");
  if (format === "tsv") return writeRecords(deps, configurations, "");
  const output = await openListOutput(deps, { resource: AUTOPILOT_CONFIGURATION });
  const text = `[${configurations.map((configuration) => configuration.text).join(",")}]`;
  await output.write({ rows: configurations.map(({ json }) => json), text });
  await output.end();
}

async function writeRecords(deps: Deps, configurations: readonly RecordValue[], separator: string): Promise<void> {
  for (const [index, configuration] of configurations.entries()) {
    if (index > 0 && separator !== "") await deps.streams.out.write(separator);
    await writeRecord(deps, AUTOPILOT_CONFIGURATION, configuration);
  }
}
