import type { Command } from "commander";
import { senderProblem } from "../../../../contract/text/email.ts";
import { characterCount, FOOTER_MAX, SENDER_NAME_MAX } from "../../../../contract/limits.ts";
import type { SettingsChange } from "../../../../service/admin/settings/commands.ts";
import { OUTPUT_FORMATS } from "../../../args/global-options.ts";
import { readOutput } from "../../../args/read-global-options.ts";
import type { FlagRecord } from "../../../args/flag-record.ts";
import { parseZone } from "../../../args/time.ts";
import { parseDailyLimit, parseInteger } from "../../../args/values.ts";
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

interface SettingFlag {
  readonly record: FlagRecord;
  /** Throws UsageError. */
  readonly parse: (text: string, flag: string) => string;
}

/** An empty text takes a setting back. */
const SETTING_FLAGS: Readonly<Record<keyof SettingsChange, SettingFlag>> = {
  sender_name: {
    record: { flag: "--sender-name", value: "name", text: "name that surveys come from" },
    parse: atMost(SENDER_NAME_MAX),
  },
  from: {
    record: { flag: "--from", value: "email", text: "e-mail address that surveys come from" },
    parse: parseSender,
  },
  reply_to: {
    record: { flag: "--reply-to", value: "email", text: "e-mail address that replies go to" },
    parse: parseSender,
  },
  footer: {
    record: { flag: "--footer", value: "text", text: `lines below each e-mail, at most ${FOOTER_MAX} characters` },
    parse: atMost(FOOTER_MAX),
  },
  tz: {
    record: { flag: "--tz", value: "zone", text: "time zone of windows, quiet hours and days", otherwise: "UTC" },
    parse: parseTimeZone,
  },
  soft_bounces: {
    record: {
      flag: "--soft-bounces",
      value: "number",
      text: "count an address as bounced after this many soft bounces in 5 surveys",
      otherwise: "never; they are listed",
    },
    parse: parseSoftBounces,
  },
  daily_limit: {
    record: {
      flag: "--daily-limit",
      value: "number",
      text: "maximum surveys and reminders per day",
      otherwise: "serve --daily-limit, or as many as are due",
    },
    parse: parseLimit,
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
      ...Object.values(SETTING_FLAGS).map(({ record }) => record),
    ],
    columns: SETTINGS,
  });
  context.action(verb, (deps, flags) => {
    const change = Object.entries(SETTING_FLAGS).map(([name, { record, parse }]) => [
      name,
      flags.parse(record.flag, parse),
    ]);
    const given = Object.fromEntries(change.filter(([, value]) => value !== null)) as SettingsChange;
    const options = { ...readProject(flags), change: given };
    if (flags.text("--output") === "yaml" && !flags.is("--json")) return runSettingsFile(deps, options);
    return runServiceSettings({ ...deps, options: { ...deps.options, output: readOutput(flags, deps.env) } }, options);
  });
}

/** An address alone, or nothing. Throws UsageError. */
function parseSender(text: string, flag: string): string {
  const email = text.trim();
  const problem = email === "" ? null : senderProblem(email);
  if (problem === null) return email;
  throw new UsageError(`${flag}: ${JSON.stringify(text)} is not an e-mail address to send from: it ${problem}`);
}

/** A zone as it was typed, or nothing. Throws UsageError. */
function parseTimeZone(text: string, flag: string): string {
  const zone = text.trim();
  if (zone !== "") parseZone(zone, flag);
  return zone;
}

/** A number, or nothing. Throws UsageError. */
function parseSoftBounces(text: string, flag: string): string {
  return text.trim() === "" ? "" : String(parseInteger(text, flag, { min: 1, max: 5 }));
}

/** An empty text takes it back. Throws UsageError. */
function parseLimit(text: string, flag: string): string {
  return text.trim() === "" ? "" : String(parseDailyLimit(text, flag));
}

/** Throws UsageError. */
function atMost(max: number): (text: string, flag: string) => string {
  return (text, flag) => {
    const count = characterCount(text.trim());
    if (count <= max) return text.trim();
    throw new UsageError(`${flag}: the text has ${count} characters; at most ${max} are allowed`);
  };
}
