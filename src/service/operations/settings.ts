/** Without changes, these operations return the current values. */
import { readAutopilotSettings } from "../domain/surveys/autopilot/autopilot-settings.ts";
import * as v from "valibot";
import { LOCALES } from "../../contract/locales.ts";
import { INTERVAL_FORM, readDuration, readInterval } from "../../contract/text/duration.ts";
import { PLATFORMS } from "../../contract/resources.ts";
import { DEFAULT_ZONE } from "../../runtime/zone.ts";
import { changeReminder, isReminderTime, REMINDER_CHANNELS } from "../domain/delivery/reminders.ts";
import { InvalidError, NotFoundError } from "../domain/errors.ts";
import { type ProjectConfiguration, readConfiguration } from "../domain/configuration.ts";
import { setThrottle } from "../domain/projects/projects.ts";
import {
  changeSettings,
  type ConfiguredSettings,
  PROJECT_SETTINGS,
  readSettings,
  toConfiguredSettings,
  toProjectSettings,
} from "../domain/projects/settings.ts";
import { configureAutopilot, showAutopilot } from "../domain/surveys/autopilot/autopilot-settings.ts";
import { DAYS_FORM, HOURS_FORM, parseDays, parseHours } from "../domain/windows/windows.ts";
import { previewSurvey } from "../domain/surveys/preview.ts";
import { durationOrOff, interval as seconds, typed } from "./define/fields.ts";
import { defineOperation, withoutNulls, orNull, writesIfGiven } from "./define/operation.ts";

const intervalOrOff = orNull(durationOrOff(readInterval, () => true, INTERVAL_FORM));
const reminderOrOff = orNull(durationOrOff(readDuration, isReminderTime, "a duration from 1h to 30d such as 5d"));
const text = orNull(v.string());
const number = orNull(
  typed<string>((given) => (["string", "number"].includes(typeof given) ? String(given) : null), "a whole number", {
    type: ["integer", "string"],
  }),
);
const given = Object.values(PROJECT_SETTINGS).map(({ name, kind }) => [name, kind === "number" ? number : text]);
/** An empty string clears a setting. */
const SETTING_FIELDS = Object.fromEntries(given) as Record<keyof ConfiguredSettings, typeof text>;

export const settingsOperations = {
  throttle: defineOperation({
    access: writesIfGiven(),
    input: { interval: intervalOrOff },
    run: async (tx, project, { interval }) => {
      if (interval === null) return { throttle: project.throttleSeconds };
      const throttle = interval === "off" ? null : interval;
      await setThrottle(tx, project, throttle);
      return { throttle };
    },
  }),
  reminder: defineOperation({
    access: writesIfGiven(),
    input: { after: reminderOrOff, channel: orNull(v.picklist(REMINDER_CHANNELS)) },
    run: async (tx, project, { after, channel }) => {
      const change = {
        after: after === "off" ? null : (after ?? undefined),
        channel: channel ?? undefined,
      };
      const settings = await changeReminder(tx, project, change);
      return { after_seconds: settings.after, channel: settings.channel };
    },
  }),
  /** `tz` is the time zone of `hours`. */
  autopilot: defineOperation({
    access: ({ inactive, ...input }) => (inactive ? "write" : writesIfGiven("platform")(input)),
    input: {
      platform: v.optional(v.picklist(PLATFORMS), "email"),
      active: orNull(v.boolean()),
      inactive: v.optional(v.boolean(), false),
      frequency: orNull(seconds),
      first: orNull(v.picklist(["spread", "now"])),
      days: orNull(
        v.pipe(
          v.string(),
          v.check((days) => parseDays(days) !== null, DAYS_FORM),
        ),
      ),
      hours: orNull(
        v.pipe(
          v.string(),
          v.check((hours) => parseHours(hours) !== null, HOURS_FORM),
        ),
      ),
    },
    run: async (tx, project, { platform, inactive, ...input }) => {
      if (inactive && input.active !== null) throw new InvalidError({ inactive: ["cannot be used with active"] });
      const change = withoutNulls({ ...input, active: inactive ? false : input.active });
      const isLook = Object.keys(change).length === 0;
      const settings = isLook
        ? await readAutopilotSettings(tx, project, platform)
        : await configureAutopilot(tx, project, platform, change);
      const { timeZone } = await readSettings(tx, project);
      return { isLook, shown: { platform, ...showAutopilot(settings), tz: timeZone ?? DEFAULT_ZONE } };
    },
    noted: ({ shown }) => ({ result: shown }),
    after: async ({ store }, { isLook, shown }) => {
      if (!isLook) await store.settle();
      return shown;
    },
  }),
  /** With `output: "yaml"` it returns all settings of the project, in the form that `apply` accepts. */
  settings: defineOperation({
    access: writesIfGiven("output"),
    input: { ...SETTING_FIELDS, output: orNull(v.picklist(["yaml"])) },
    run: async (tx, project, { output, ...input }): Promise<ConfiguredSettings | ProjectConfiguration> => {
      const settings = toConfiguredSettings(await changeSettings(tx, project, toProjectSettings(withoutNulls(input))));
      return output === null ? settings : readConfiguration(tx, project);
    },
  }),
  /** Without an address, previews a sample. */
  "survey.preview": defineOperation({
    access: "read",
    input: { email: orNull(v.string()), locale: orNull(v.picklist(LOCALES)) },
    run: async (tx, { id, name }, { email, locale }) => {
      const survey = await previewSurvey(tx, { id, name }, { email, locale });
      if (survey === null) throw new NotFoundError(`no person found with email ${email}`);
      return survey;
    },
    after: ({ renderPreview }, survey) => renderPreview(survey),
  }),
};
