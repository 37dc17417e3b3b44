import type { Client } from "../../../client/client.ts";
import { type Platform, PLATFORMS } from "../../../contract/resources.ts";
import { abortTogether } from "../../../runtime/parallel.ts";
import { type Deps, withClient } from "../../kit/deps.ts";
import { defineCommand } from "../../kit/define-command.ts";
import { chooseFormat, writeList } from "../../render/list-output.ts";
import { checkColumns, type RecordValue, writeRecord } from "../../render/record-output.ts";
import { AUTOPILOT_CONFIGURATION } from "../../render/resources.ts";

export const config = defineCommand({
  name: "config",
  summary: "show one or both platforms' configuration",
  examples: ["surveyctl autopilot config", "surveyctl autopilot config --platform email --json"],
  flags: {
    platform: {
      flag: "--platform",
      value: "platform",
      text: "platform to show",
      choices: PLATFORMS,
      otherwise: "both",
    },
  },
  columns: AUTOPILOT_CONFIGURATION,
  run: async (deps, { platform }) => {
    checkColumns(deps, AUTOPILOT_CONFIGURATION);
    const platforms = platform === null ? PLATFORMS : [platform];
    const configurations = await withClient(deps, (client) => readAll(client, platforms, deps.signal));
    await (platform === null ? writeBoth(deps, configurations) : writeRecords(deps, configurations, ""));
  },
});

function readAll(client: Client, platforms: readonly Platform[], signal: AbortSignal): Promise<RecordValue[]> {
  return abortTogether(signal, (own) =>
    Promise.all(platforms.map((platform) => client.getAutopilot(platform, { signal: own }))),
  );
}

/** An array in JSON and CSV, two records in text. */
async function writeBoth(deps: Deps, configurations: readonly RecordValue[]): Promise<void> {
  const format = chooseFormat(deps);
  if (format === "table" || format === "record") return writeRecords(deps, configurations, "\n");
  if (format === "tsv") return writeRecords(deps, configurations, "");
  const text = `[${configurations.map((configuration) => configuration.text).join(",")}]`;
  const rows = configurations.map(({ json }) => json);
  await writeList(deps, { resource: AUTOPILOT_CONFIGURATION }, { rows, text });
}

async function writeRecords(deps: Deps, configurations: readonly RecordValue[], separator: string): Promise<void> {
  for (const [index, configuration] of configurations.entries()) {
    if (index > 0 && separator !== "") await deps.streams.out.write(separator);
    await writeRecord(deps, AUTOPILOT_CONFIGURATION, configuration);
  }
}
