/**
 * `service throttle`, `reminder`, `autopilot`, `settings` and `survey`. Without changes they show the current values.
 */
import { readAutopilotSettings } from "../domain/surveys/autopilot/autopilot-settings.ts";
import * as v from "valibot";
import { LOCALES } from "../../contract/locales.ts";
import { PLATFORMS } from "../../contract/resources.ts";
import { DEFAULT_ZONE } from "../../runtime/zone.ts";
import { changeReminder, REMINDER_CHANNELS } from "../domain/delivery/reminders.ts";
import { NotFoundError } from "../domain/errors.ts";
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
import { previewSurvey } from "../domain/surveys/preview.ts";
import { signResponseLink } from "../domain/surveys/signed-links.ts";
import { defineOperation, withoutNulls, orNull, writesIfGiven } from "./define/operation.ts";

/** Seconds. */
const secondsOrOff = orNull(v.union([v.literal("off"), v.number()]));
const given = Object.values(PROJECT_SETTINGS).map(({ name }) => [name, orNull(v.string())]);
/** An empty text clears a setting. */
const SETTING_FIELDS = Object.fromEntries(given) as Record<keyof ConfiguredSettings, typeof text>;
const text = orNull(v.string());

export const settingsOperations = {
  throttle: defineOperation({
    scope: "project",
    access: writesIfGiven(),
    input: { interval: secondsOrOff },
    run: async (tx, project, { interval }) => {
      if (interval === null) return { throttle: project.throttleSeconds };
      const throttle = interval === "off" ? null : interval;
      await setThrottle(tx, project, throttle);
      return { throttle };
    },
  }),
  reminder: defineOperation({
    scope: "project",
    access: writesIfGiven(),
    input: { after: secondsOrOff, channel: orNull(v.picklist(REMINDER_CHANNELS)) },
    run: async (tx, project, { after, channel }) => {
      const change = {
        after: after === "off" ? null : (after ?? undefined),
        channel: channel ?? undefined,
      };
      const settings = await changeReminder(tx, project, change);
      return { after_seconds: settings.after, channel: settings.channel };
    },
  }),
  /** `tz` is the time zone of the hours. */
  autopilot: defineOperation({
    scope: "project",
    access: writesIfGiven("platform"),
    input: {
      platform: v.picklist(PLATFORMS),
      active: orNull(v.boolean()),
      frequency: orNull(v.number()),
      first: orNull(v.picklist(["spread", "now"])),
      days: orNull(v.string()),
      hours: orNull(v.string()),
    },
    run: async (tx, project, { platform, ...input }) => {
      const change = withoutNulls(input);
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
  settings: defineOperation({
    scope: "project",
    access: writesIfGiven(),
    input: SETTING_FIELDS,
    run: async (tx, project, input) =>
      toConfiguredSettings(await changeSettings(tx, project, toProjectSettings(withoutNulls(input)))),
  }),
  /** For the person with that address, or for anyone. */
  "survey.preview": defineOperation({
    scope: "project",
    access: "read",
    input: { email: orNull(v.string()), locale: orNull(v.picklist(LOCALES)) },
    run: async (tx, { id, name }, { email, locale }) => {
      const survey = await previewSurvey(tx, { id, name }, { email, locale });
      if (survey === null) throw new NotFoundError(`no person found with email ${email}`);
      return survey;
    },
    after: ({ renderPreview }, survey) => renderPreview(survey),
  }),
  "survey.link": defineOperation({
    scope: "project",
    access: "write",
    input: { id: v.string() },
    run: async (tx, project, { id }, { appUrl }) => {
      const path = await signResponseLink(tx, project, id);
      if (path === null) throw new NotFoundError(`project ${project.name} has no response ${id}`);
      return { url: appUrl() + path };
    },
  }),
};
