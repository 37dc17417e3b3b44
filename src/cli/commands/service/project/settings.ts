import { FOOTER_MAX } from "../../../../contract/limits.ts";
import { quoteText } from "../../../../contract/text/invisible.ts";
import type { ProjectConfiguration } from "../../../../service/domain/projects/configuration.ts";
import { type ConfiguredSettings, PROJECT_SETTINGS } from "../../../../service/domain/projects/settings.ts";
import { OUTPUTS } from "../../../../service/operations/define/outputs.ts";
import type { FlagRecord } from "../../../args/flag-record.ts";
import { OUTPUT_FORMATS, readOutput } from "../../../args/global-options.ts";
import { parseZone } from "../../../args/time.ts";
import { UsageError } from "../../../errors/usage-error.ts";
import { defineCommand } from "../../../kit/define-command.ts";
import type { FlagGroup } from "../../../kit/flag-spec.ts";
import { checkColumns } from "../../../render/record-output.ts";
import { writeText } from "../../../render/safe-text.ts";
import { PLACE, PROJECT, showRecord, withAdmin } from "../data/data-file.ts";
import { toResource } from "../service-resources.ts";

const SETTINGS = toResource("settings", OUTPUTS.settings);

/** An empty text clears a setting. */
const SETTING_FLAGS: Readonly<Record<keyof ConfiguredSettings, FlagRecord>> = {
  sender_name: { flag: "--sender-name", value: "name", text: "name that surveys come from" },
  from: { flag: "--from", value: "email", text: "e-mail address that surveys come from" },
  reply_to: { flag: "--reply-to", value: "email", text: "e-mail address that replies go to" },
  footer: { flag: "--footer", value: "text", text: `lines below each e-mail, at most ${FOOTER_MAX} characters` },
  tz: { flag: "--tz", value: "zone", text: "time zone of windows, quiet hours and days", otherwise: "UTC" },
  soft_bounces: {
    flag: "--soft-bounces",
    value: "number",
    text: "count an address as bounced after this many soft bounces in 5 surveys",
    otherwise: "never; they are listed",
  },
  daily_limit: {
    flag: "--daily-limit",
    value: "number",
    text: "maximum surveys and reminders per day",
    otherwise: "that of serve --daily-limit, or no limit",
  },
};

const CHANGE: FlagGroup<Readonly<Record<keyof ConfiguredSettings, string | null>>> = {
  records: Object.values(SETTING_FLAGS),
  read: (flags) => {
    const given = Object.values(PROJECT_SETTINGS).map(({ name, check }) => [
      name,
      flags.parse(SETTING_FLAGS[name].flag, (text, flag) => parseSetting(text, flag, check)),
    ]);
    return Object.fromEntries(given) as Record<keyof ConfiguredSettings, string | null>;
  },
};

/** `yaml` is its own, so the command reads the format itself. */
const OUTPUT: FlagGroup<ReturnType<typeof readOutput> | "yaml"> = {
  records: [
    {
      flag: "--output",
      short: "-o",
      value: "format",
      text: "output format; yaml: all settings, for `service apply`",
      choices: [...OUTPUT_FORMATS, "yaml"],
      environment: "SURVEYCTL_OUTPUT",
      otherwise: "table on a terminal, tsv in a pipe",
    },
    { flag: "--json", text: "short for -o json" },
  ],
  read: (flags, { env }) =>
    flags.text("--output") === "yaml" && !flags.is("--json") ? "yaml" : readOutput(flags, env),
};

export const settings = defineCommand({
  name: "settings",
  summary: "set or show the sender of surveys and other settings; an empty value clears one",
  examples: [
    'surveyctl service settings --sender-name "Acme Shoes" --from survey@acme.example --data survey.db',
    'surveyctl service settings --footer "Acme Ltd, 1 High Street, Dublin" --tz Europe/Dublin',
    'surveyctl service settings --reply-to "" --project acme',
    "surveyctl service settings -o yaml > survey.yaml",
  ],
  operation: "settings",
  flags: { place: PLACE, project: PROJECT, output: OUTPUT, change: CHANGE },
  columns: SETTINGS,
  run: async (deps, { place, project, output, change }) => {
    const choice = { ...place, changes: Object.values(change).some((value) => value !== null) };
    if (output !== "yaml") {
      checkColumns(deps, SETTINGS);
      const shown = await withAdmin(deps, choice, project, (admin) => admin({ kind: "settings", project, ...change }));
      return showRecord({ ...deps, options: { ...deps.options, output } }, SETTINGS, shown);
    }
    if (deps.options.columns !== null) throw new UsageError("-o yaml is a whole file; --columns cannot change it");
    const { formatSettingsFile } = await import("../apply/settings-file.ts");
    const file = await withAdmin(deps, choice, project, async (admin, name) => {
      const all = await admin({ kind: "settings", project, ...change, output: "yaml" });
      return formatSettingsFile(name, all as ProjectConfiguration);
    });
    await writeText(deps.streams.out, file);
  },
});

/** Throws UsageError. */
function parseSetting(given: string, flag: string, check: (text: string) => string | null): string {
  const text = given.trim();
  if (flag === "--tz" && text !== "") parseZone(text, flag);
  const problem = text === "" ? null : check(text);
  if (problem !== null) throw new UsageError(`${flag}: ${quoteText(text)} ${problem}`);
  return text;
}
