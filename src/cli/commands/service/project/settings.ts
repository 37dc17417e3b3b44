import type { Command } from "commander";
import { FOOTER_MAX } from "../../../../contract/limits.ts";
import { quoteText } from "../../../../contract/text/invisible.ts";
import type { SettingsChange } from "../../../../service/admin/settings/commands.ts";
import { PROJECT_SETTINGS } from "../../../../service/domain/projects/settings.ts";
import { OUTPUT_FORMATS } from "../../../args/global-options.ts";
import { readOutput } from "../../../args/read-global-options.ts";
import type { FlagRecord } from "../../../args/flag-record.ts";
import { parseZone } from "../../../args/time.ts";
import type { CommandContext } from "../../../command/command-context.ts";
import type { Deps } from "../../../command/deps.ts";
import { UsageError } from "../../../errors/usage-error.ts";
import { EXIT, type ExitCode } from "../../../exit-codes.ts";
import { PROJECT_FLAGS, type ProjectChoice, readProject, showRecord, withAdmin } from "../data/data-file.ts";
import { SETTINGS } from "../service-resources.ts";
import { checkColumns } from "../../../render/record-output.ts";
import { writeText } from "../../../render/safe-text.ts";

interface ServiceSettingsOptions extends ProjectChoice {
  /** Empty shows them; an empty text takes a setting back. */
  readonly change: SettingsChange;
}

async function runServiceSettings(
  deps: Deps,
  { project, change, ...choice }: ServiceSettingsOptions,
): Promise<ExitCode> {
  checkColumns(deps, SETTINGS);
  const settings = await withAdmin(deps, choice, (admin) => admin({ kind: "settings", project, change }));
  await showRecord(deps, SETTINGS, settings);
  return EXIT.done;
}

/** All settings as the file that `service apply` reads, after the change. */
async function runSettingsFile(deps: Deps, { project, change, ...choice }: ServiceSettingsOptions): Promise<ExitCode> {
  if (deps.options.columns !== null) throw new UsageError("-o yaml is a whole file; --columns cannot change it");
  const configuration = await withAdmin(deps, choice, async (admin) => {
    if (Object.keys(change).length > 0) await admin({ kind: "settings", project, change });
    return admin({ kind: "configuration", project });
  });
  const { formatSettingsFile } = await import("../apply/settings-file.ts");
  await writeText(deps.streams.out, formatSettingsFile(project, configuration));
  return EXIT.done;
}

/** An empty text takes a setting back. */
const SETTING_FLAGS: Readonly<Record<keyof SettingsChange, FlagRecord>> = {
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
    otherwise: "serve --daily-limit, or as many as are due",
  },
};

export function registerSettings(parent: Command, context: CommandContext): void {
  const verb = context.verb(parent, {
    name: "settings",
    summary: "set or show the sender of surveys and other settings; an empty value clears one",
    examples: [
      'surveyctl service settings --sender-name "Acme Shoes" --from survey@acme.example --data survey.db',
      'surveyctl service settings --footer "Acme Ltd, 1 High Street, Dublin" --tz Europe/Dublin',
      'surveyctl service settings --reply-to "" --project acme',
      "surveyctl service settings -o yaml > survey.yaml",
    ],
    exits: [EXIT.done, EXIT.failed, EXIT.refused],
    flags: [
      ...PROJECT_FLAGS,
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
      ...Object.values(SETTING_FLAGS),
    ],
    columns: SETTINGS,
  });
  context.action(verb, (deps, flags) => {
    const change = Object.values(PROJECT_SETTINGS).map(({ name, check }) => [
      name,
      flags.parse(SETTING_FLAGS[name].flag, (text, flag) => parseSetting(text, flag, check)),
    ]);
    const given = Object.fromEntries(change.filter(([, value]) => value !== null)) as SettingsChange;
    const options = { ...readProject(flags), change: given };
    if (flags.text("--output") === "yaml" && !flags.is("--json")) return runSettingsFile(deps, options);
    return runServiceSettings({ ...deps, options: { ...deps.options, output: readOutput(flags, deps.env) } }, options);
  });
}

/** Throws UsageError. */
function parseSetting(given: string, flag: string, check: (text: string) => string | null): string {
  const text = given.trim();
  if (flag === "--tz" && text !== "") parseZone(text, flag);
  const problem = text === "" ? null : check(text);
  if (problem !== null) throw new UsageError(`${flag}: ${quoteText(text)} ${problem}`);
  return text;
}
