import path from "node:path";
import { stringify } from "yaml";
import type { Json } from "../../../../contract/json.ts";
import { SCORE_MAX } from "../../../../contract/limits.ts";
import { LOCALES } from "../../../../contract/locales.ts";
import { PLATFORMS } from "../../../../contract/resources.ts";
import { formatScoreSpan, readScoreSpan } from "../../../../contract/text/score-span.ts";
import type { ProjectConfiguration, WantedConfiguration } from "../../../../service/domain/configuration.ts";
import { PROJECT_SETTINGS } from "../../../../service/domain/projects/settings.ts";
import { TEXT_NAMES } from "../../../../service/domain/projects/texts.ts";
import { REMINDER_CHANNELS } from "../../../../service/domain/delivery/reminders.ts";
import { WEEKDAYS } from "../../../../service/domain/windows/windows.ts";
import { WEBHOOK_EVENTS, WEBHOOK_FORMATS } from "../../../../service/domain/webhooks/webhook.ts";
import { formatDuration, INTERVAL_FORM, readDuration, readInterval } from "../../../../contract/text/duration.ts";
import { readLogoFile } from "../project/logo-file.ts";
import { formatQuestion, orNothing, QUESTION_LIST, type ReadQuestion, toWanted } from "./question-rules.ts";
import {
  fields,
  flag,
  list,
  oneOf,
  orNull,
  parsed,
  type YamlRule,
  readYaml,
  text,
  texts,
  type YamlFile,
} from "./yaml-reader.ts";

const optionalText = orNull(text);
const optionalNumber = orNull(parsed((given) => (/^\d+$/.test(given) ? Number(given) : null), "a whole number"));

const SCORES = `a score or a range of scores, from 0 to ${SCORE_MAX}, such as 0-6`;

const readScores = (given: string): Json => orNothing(readScoreSpan(given), (span) => ({ ...span }));
const readScoreText = (given: string): Json => orNothing(readScoreSpan(given), formatScoreSpan);

function readTimeOfDay(given: string): Json {
  const padded = given.padStart(5, "0");
  return /^(?:[01]\d|2[0-3]):[0-5]\d$/.test(padded) ? padded : null;
}

const PLATFORM = fields({
  active: flag,
  frequency: parsed(readInterval, INTERVAL_FORM),
  first: oneOf(["spread", "now"]),
  days: text,
  hours: text,
});

const RULES = {
  settings: fields(
    Object.fromEntries(
      Object.values(PROJECT_SETTINGS).map(({ name, kind }) => [
        name,
        kind === "number" ? optionalNumber : optionalText,
      ]),
    ),
  ),
  throttle: parsed((given) => (given === "off" ? given : readInterval(given)), `${INTERVAL_FORM}, or off`),
  reminder: fields({
    after: parsed((given) => (given === "off" ? given : readDuration(given)), "a duration such as 90d or 12h, or off"),
    channel: oneOf(REMINDER_CHANNELS),
  }),
  autopilot: fields(Object.fromEntries(PLATFORMS.map((platform) => [platform, PLATFORM]))),
  brand: fields({ name: optionalText, color: optionalText, logo: optionalText }),
  texts: list(
    fields({
      locale: orNull(oneOf(LOCALES)),
      score: orNull(parsed(readScoreText, SCORES)),
      ...Object.fromEntries(TEXT_NAMES.map((name) => [name, optionalText])),
    }),
  ),
  questions: QUESTION_LIST,
  trends: list(fields({ name: text, where: texts }, ["name", "where"])),
  webhooks: list(
    fields(
      {
        url: text,
        events: list(oneOf(WEBHOOK_EVENTS)),
        scores: orNull(parsed(readScores, SCORES)),
        format: oneOf(WEBHOOK_FORMATS),
        signature_header: text,
        allow_private: flag,
        insecure_http: flag,
      },
      ["url"],
    ),
  ),
  digests: list(
    fields(
      {
        target: text,
        every: oneOf(WEEKDAYS),
        at: parsed(readTimeOfDay, "a time of day such as 08:00"),
        tz: optionalText,
        allow_private: flag,
      },
      ["target", "every"],
    ),
  ),
};
const SETTINGS_FILE: YamlRule = fields(RULES);
export const SECTIONS: readonly string[] = Object.keys(RULES);

/** A logo's path is relative to `folder`. Throws UsageError. */
export async function readSettingsFile(name: string, given: string, folder: string) {
  const file = readYaml(name, given, SETTINGS_FILE);
  const { throttle, reminder, brand, questions, ...rest } = file.value as {
    throttle?: number | "off";
    reminder?: { after?: number | "off" };
    brand?: { logo?: string | null };
    questions?: readonly ReadQuestion[];
  };
  const wanted = {
    ...rest,
    ...(throttle !== undefined && { throttle: throttle === "off" ? null : throttle }),
    ...(reminder !== undefined && { reminder: { ...reminder, ...(reminder.after === "off" && { after: null }) } }),
    ...(questions !== undefined && { questions: questions.map(toWanted) }),
    ...(brand !== undefined && { brand: await withLogo(brand, file, folder) }),
  } as WantedConfiguration;
  return { wanted, fail: file.fail };
}

const DATA_URL = "data:;base64,";

async function withLogo(brand: { logo?: string | null }, { fail }: YamlFile, folder: string) {
  const { logo } = brand;
  if (logo === undefined || logo === null) return brand;
  if (logo.startsWith("data:")) return { ...brand, logo: logo.slice(logo.indexOf(",") + 1) };
  const refuse = (why: string): Error => fail(["brand", "logo"], why);
  const read = await readLogoFile(path.resolve(folder, logo), {
    unreadable: (why) => refuse(`cannot be read: ${why}`),
    empty: () => refuse("is an empty file"),
  });
  return { ...brand, logo: read };
}

/** Writes the settings in a form that `readSettingsFile` reads back unchanged. */
export function formatSettingsFile(project: string, configuration: ProjectConfiguration): string {
  const { settings, throttle, reminder, autopilot, brand, questions, trends, webhooks, digests } = configuration;
  const { texts: words } = configuration;
  const value = {
    settings,
    throttle: throttle === null ? "off" : formatDuration(throttle),
    reminder: { ...reminder, after: reminder.after === null ? "off" : formatDuration(reminder.after) },
    autopilot: Object.fromEntries(
      PLATFORMS.map((name) => [name, { ...autopilot[name], frequency: formatDuration(autopilot[name].frequency) }]),
    ),
    brand: { ...brand, logo: brand.logo === null ? null : DATA_URL + brand.logo },
    texts: words.map((one) => Object.fromEntries(Object.entries(one).filter(([, given]) => given !== null))),
    questions: questions.map(formatQuestion),
    trends,
    webhooks: webhooks.map(({ scores, ...rest }) => ({
      ...rest,
      scores: scores === null ? null : formatScoreSpan(scores),
    })),
    digests,
  };
  const head = `# Settings of project ${JSON.stringify(project)}: surveyctl service apply FILE. Secrets are not among them.\n`;
  return head + stringify(value, { lineWidth: 0, aliasDuplicateObjects: false });
}
