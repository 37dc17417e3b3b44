/** Values are checked when the settings are applied. */
import * as v from "valibot";
import { isJsonObject } from "../../../contract/json.ts";
import { QUESTION_TYPES } from "../../../contract/questions/questions.ts";
import { PLATFORMS } from "../../../contract/resources.ts";
import { REMINDER_CHANNELS } from "../../domain/delivery/reminders.ts";
import { PROJECT_SETTINGS } from "../../domain/projects/settings.ts";
import { TEXT_NAMES } from "../../domain/projects/texts.ts";
import { WEEKDAYS } from "../../domain/windows/windows.ts";
import { WEBHOOK_EVENTS, WEBHOOK_FORMATS } from "../../domain/webhooks/webhook.ts";
import { isPairs, typed } from "./fields.ts";

const TEXT = v.nullable(v.string());
const NUMBER = v.nullable(v.number());
const FLAG = v.optional(v.boolean());
/** `v.record` would skip the key `constructor`. */
const WHERE = typed((given) => (isJsonObject(given) && isPairs(given) ? given : null), "a map of texts");
const SPAN = v.strictObject({ from: v.number(), to: v.number() });

const part = <const Each extends v.ObjectEntries>(entries: Each) => v.partial(v.strictObject(entries));
const named = (names: readonly string[], schema: v.GenericSchema) =>
  Object.fromEntries(names.map((name) => [name, schema]));

const PLATFORM = part({
  active: v.boolean(),
  frequency: v.number(),
  first: v.picklist(["spread", "now"]),
  days: v.string(),
  hours: v.string(),
});

export const SETTINGS_SHAPE = part({
  settings: part(
    Object.fromEntries(
      Object.values(PROJECT_SETTINGS).map(({ name, kind }) => [name, kind === "number" ? NUMBER : TEXT]),
    ),
  ),
  throttle: NUMBER,
  reminder: part({ after: NUMBER, channel: v.picklist(REMINDER_CHANNELS) }),
  autopilot: part(named(PLATFORMS, PLATFORM)),
  brand: part({ name: TEXT, color: TEXT, logo: TEXT }),
  texts: v.array(part(named(["locale", "score", ...TEXT_NAMES], TEXT))),
  questions: v.array(
    v.strictObject({
      id: v.optional(v.string()),
      type: v.picklist(QUESTION_TYPES),
      text: v.string(),
      choices: v.optional(v.array(v.string())),
      scale: v.optional(v.nullable(SPAN)),
      to: v.optional(v.nullable(v.array(SPAN))),
      texts: v.optional(v.record(v.string(), v.strictObject({ text: v.string(), choices: v.array(v.string()) }))),
    }),
  ),
  trends: v.array(v.strictObject({ name: v.string(), where: WHERE })),
  webhooks: v.array(
    v.strictObject({
      url: v.string(),
      events: v.optional(v.array(v.picklist(WEBHOOK_EVENTS))),
      scores: v.optional(v.nullable(SPAN)),
      format: v.optional(v.picklist(WEBHOOK_FORMATS)),
      signature_header: v.optional(v.string()),
      allow_private: FLAG,
      insecure_http: FLAG,
    }),
  ),
  digests: v.array(
    v.strictObject({
      target: v.string(),
      every: v.picklist(WEEKDAYS),
      at: v.optional(v.string()),
      tz: v.optional(TEXT),
      allow_private: FLAG,
    }),
  ),
});
