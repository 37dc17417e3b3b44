import type { Client } from "../../../client/client.ts";
import { type Platform, PLATFORMS } from "../../../contract/resources.ts";
import { abortTogether } from "../../../runtime/parallel.ts";
import { type Deps, withClient } from "../../kit/deps.ts";
import { defineCommand } from "../../kit/define-command.ts";
import { chooseFormat, writeList } from "../../render/list-output.ts";
import { type RecordValue, writeRecord } from "../../render/record-output.ts";
import { AUTOPILOT_CONFIGURATION } from "../../render/resources.ts";

export const config = defineCommand({
  name: "config",
  summary: "show one or both platforms' configuration",
  examples: ["surveyctl autopilot config", "surveyctl autopilot config --platform email --json"],
  flags: {
    platform: { value: "platform", text: "platform to show", choices: PLATFORMS, otherwise: "both" },
  },
  columns: AUTOPILOT_CONFIGURATION,
  run: async (deps, { platform }) => {
    const platforms = platform === null ? PLATFORMS : [platform];
    const configurations = await withClient(deps, (client) => readAll(client, platforms, deps.signal));
    const format = chooseFormat(deps);
    const isForReading = format === "table" || format === "record";
    if (platform === null && !isForReading && format !== "tsv") return writeArray(deps, configurations);
    for (const [index, configuration] of configurations.entries()) {
      if (index > 0 && isForReading) await deps.streams.out.write("\n");
      await writeRecord(deps, AUTOPILOT_CONFIGURATION, configuration);
    }
  },
});

function readAll(client: Client, platforms: readonly Platform[], signal: AbortSignal): Promise<RecordValue[]> {
  return abortTogether(signal, (own) =>
    Promise.all(platforms.map((platform) => client.getAutopilot(platform, { signal: own }))),
  );
}

function writeArray(deps: Deps, configurations: readonly RecordValue[]): Promise<void> {
  const text = `[${configurations.map((configuration) => configuration.text).join(",")}]`;
  const rows = configurations.map(({ json }) => json);
  return writeList(deps, { resource: AUTOPILOT_CONFIGURATION }, { rows, text });
}
