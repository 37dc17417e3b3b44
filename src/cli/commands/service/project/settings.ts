import { FOOTER_MAX } from "../../../../contract/limits.ts";
import { quoteText } from "../../../../contract/text/invisible.ts";
import type { ProjectConfiguration } from "../../../../service/domain/configuration.ts";
import { type ConfiguredSettings, PROJECT_SETTINGS } from "../../../../service/domain/projects/settings.ts";
import { OUTPUTS } from "../../../../service/operations/define/outputs.ts";
import { type OutputFormat, outputFlags, readOutput } from "../../../args/global-options.ts";
import { parseZone } from "../../../args/time.ts";
import { UsageError } from "../../../errors/usage-error.ts";
import { flagOf } from "../../../args/flag-record.ts";
import type { FlagGroup, FlagSpec } from "../../../kit/flag-spec.ts";
import { toResource } from "../../../render/columns.ts";
import { writeText } from "../../../render/safe-text.ts";
import { showRecord } from "../data/data-file.ts";
import { serviceCommand } from "../service-command.ts";

const SETTINGS = toResource("settings", OUTPUTS.settings);

const SETTING_FLAGS = {
  sender_name: { value: "name", text: "name that surveys come from" },
  from: { value: "email", text: "e-mail address that surveys come from" },
  reply_to: { value: "email", text: "e-mail address that replies go to" },
  footer: { value: "text", text: `lines below each e-mail, at most ${FOOTER_MAX} characters` },
  tz: { value: "zone", text: "time zone of sending hours, quiet hours and days", otherwise: "UTC" },
  soft_bounces: {
    value: "number",
    text: "count an address as bounced after this many soft bounces in 5 surveys",
    otherwise: "never; they are only listed",
  },
  daily_limit: {
    value: "number",
    text: "maximum surveys and reminders per day",
    otherwise: "set by serve --daily-limit, or no limit",
  },
} as const satisfies Record<keyof ConfiguredSettings, FlagSpec>;

/** Replaces the global output flags, because only this command has `yaml`. */
const OUTPUT: FlagGroup<OutputFormat | "yaml" | null> = {
  records: outputFlags("yaml", "output format; yaml: all settings, for `service apply`"),
  read: (flags, { env }) => readOutput(flags, env, "yaml"),
};

export const settings = serviceCommand({
  operation: "settings",
  summary: "set or show the sender of surveys and other settings; an empty value clears one",
  examples: [
    'surveyctl service settings --sender-name "Acme Shoes" --from survey@acme.example --data survey.db',
    'surveyctl service settings --footer "Acme Ltd, 1 High Street, Dublin" --tz Europe/Dublin',
    'surveyctl service settings --reply-to "" --project acme',
    "surveyctl service settings -o yaml > survey.yaml",
  ],
  flags: { output: OUTPUT, ...SETTING_FLAGS },
  columns: SETTINGS,
  input: ({ output, ...given }, { options }) => {
    if (output === "yaml" && options.columns !== null)
      throw new UsageError("-o yaml is a whole file; --columns cannot change it");
    return { ...parseSettings(given), output: output === "yaml" ? output : null };
  },
  show: async (deps, result, { output, project }) => {
    if (output !== "yaml") return showRecord({ ...deps, options: { ...deps.options, output } }, SETTINGS, result);
    const { formatSettingsFile } = await import("../apply/settings-file.ts");
    await writeText(deps.streams.out, formatSettingsFile(project, result as ProjectConfiguration));
  },
});

type GivenSettings = Readonly<Record<keyof ConfiguredSettings, string | null>>;

function parseSettings(given: GivenSettings): GivenSettings {
  const parsed = Object.values(PROJECT_SETTINGS).map(({ name, check }) => {
    const text = given[name]?.trim() ?? null;
    const flag = flagOf(name);
    if (name === "tz" && text) parseZone(text, flag);
    const problem = text ? check(text) : null;
    if (problem !== null) throw new UsageError(`${flag}: ${quoteText(text ?? "")} ${problem}`);
    return [name, text];
  });
  return Object.fromEntries(parsed) as GivenSettings;
}
