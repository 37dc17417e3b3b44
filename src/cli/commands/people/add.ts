import type { JsonObject } from "../../../contract/json.ts";
import { CHANNELS } from "../../../contract/routes.ts";
import { parseEmail, parsePhone } from "../../args/people.ts";
import { parseDelay } from "../../args/time.ts";
import { surveyProperties } from "../../kit/survey-properties.ts";
import { parseRecordedTime, timeContext } from "../../kit/time-flags.ts";
import { UsageError } from "../../errors/usage-error.ts";
import { defineCommand } from "../../kit/define-command.ts";
import { toBody } from "../../kit/write-outcome.ts";
import { ADDED_PERSON } from "../../render/resources.ts";
import { addOrUpdatePerson } from "./send.ts";

export const add = defineCommand({
  name: "add",
  summary: "create or update one person and schedule a survey",
  examples: [
    "surveyctl people add --email ada@example.com --name Ada --property plan=pro --delay 2h",
    "surveyctl people add --phone +14155550101 --channel sms --dry-run",
    "surveyctl people add --email ada@example.com --no-send",
  ],
  flags: {
    email: { value: "email", text: "the person's e-mail address; required unless --phone is given", parse: parseEmail },
    phone: { value: "phone", text: "the person's phone number (E.164); required for --channel sms", parse: parsePhone },
    channel: { value: "channel", text: "how the survey is sent", choices: CHANNELS, otherwise: "email" },
    name: { value: "name", text: "the person's name" },
    delay: {
      value: "duration",
      text: "wait this long before sending, such as 3600, 1h or tomorrow",
      otherwise: "0",
      parse: (text, place, deps) => parseDelay(text, place, timeContext(deps)),
    },
    noSend: { text: "save the person without sending a survey" },
    lastSentAt: {
      value: "time",
      text: "when the person was last sent a survey; counts for the throttle (30 days by default, see service throttle)",
      parse: parseRecordedTime,
    },
    newEmail: { value: "email", text: "the person's new address", parse: parseEmail, requires: ["--email"] },
    newPhone: { value: "phone", text: "the person's new number", parse: parsePhone, requires: ["--phone"] },
    properties: surveyProperties(),
  },
  columns: ADDED_PERSON,
  run: async (deps, { email, phone, channel, name, delay, noSend, lastSentAt, newEmail, newPhone, properties }) => {
    if (channel === "sms" && phone === null) throw new UsageError("--channel sms requires --phone");
    if (email === null && phone === null) throw new UsageError("specify --email or --phone");
    const body: JsonObject = toBody({
      email,
      phone_number: phone,
      channel,
      name,
      delay,
      properties,
      send: noSend ? false : null,
      last_sent_at: lastSentAt,
      email_update: newEmail,
      phone_number_update: newPhone,
    });
    return addOrUpdatePerson(deps, async () => body, { properties, answer: ADDED_PERSON });
  },
});
