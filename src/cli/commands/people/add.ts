import type { Command } from "commander";
import type { JsonObject } from "../../../contract/json.ts";
import { type Channel, CHANNELS } from "../../../contract/routes.ts";
import { parseChoice } from "../../args/values.ts";
import type { Flags } from "../../args/flags.ts";
import { parseEmail, parsePhone } from "../../args/people.ts";
import { parseDelay } from "../../args/time.ts";
import type { Deps } from "../../command/deps.ts";
import { UsageError } from "../../errors/usage-error.ts";
import { EXIT, type ExitCode } from "../../exit-codes.ts";
import type { CommandContext } from "../../command/command-context.ts";
import {
  PROPERTY_FLAGS,
  type PropertySources,
  readPropertyFlags,
  toProperties,
} from "../../command/survey-properties.ts";
import { readRecordedTime, timeContext } from "../../command/time-flags.ts";
import { ADDED_PERSON } from "../../render/resources.ts";
import { addOrUpdatePerson, toBody } from "./send.ts";

export interface PeopleAddOptions {
  readonly email: string | null;
  readonly phone: string | null;
  readonly channel: Channel | null;
  readonly name: string | null;
  readonly delaySeconds: number | null;
  readonly properties: PropertySources;
  readonly send: boolean;
  readonly lastSentAt: number | null;
  readonly newEmail: string | null;
  readonly newPhone: string | null;
}

export function registerPeopleAdd(noun: Command, context: CommandContext): void {
  const command = context.verb(noun, {
    name: "add",
    summary: "create or update one person and schedule a survey",
    examples: [
      "surveyctl people add --email ada@example.com --name Ada --property plan=pro --delay 2h",
      "surveyctl people add --phone +14155550101 --channel sms --dry-run",
      "surveyctl people add --email ada@example.com --no-send",
    ],
    exits: [EXIT.done, EXIT.failed, EXIT.auth, EXIT.refused],
    flags: [
      { flag: "--email", value: "email", text: "the person's e-mail address; required unless --phone is given" },
      { flag: "--phone", value: "phone", text: "the person's phone number (E.164); required for --channel sms" },
      { flag: "--channel", value: "channel", text: "how the survey is sent", choices: CHANNELS, otherwise: "email" },
      { flag: "--name", value: "name", text: "the person's name" },
      {
        flag: "--delay",
        value: "duration",
        text: "wait this long before sending, such as 3600, 1h or tomorrow",
        otherwise: "0",
      },
      { flag: "--no-send", text: "save the person and send no survey" },
      {
        flag: "--last-sent-at",
        value: "time",
        text: "when the person was last sent a survey; counts for the throttle (30 days by default, see service throttle)",
      },
      { flag: "--new-email", value: "email", text: "new address of the person given by --email" },
      { flag: "--new-phone", value: "phone", text: "new number of the person given by --phone" },
      ...PROPERTY_FLAGS,
    ],
    columns: ADDED_PERSON,
  });
  context.action(command, async (deps, flags) => runPeopleAdd(deps, await readOptions(deps, flags)));
}

async function readOptions(deps: Deps, flags: Flags): Promise<PeopleAddOptions> {
  return {
    email: flags.parse("--email", parseEmail),
    phone: flags.parse("--phone", parsePhone),
    channel: flags.parse("--channel", (text, place) => parseChoice(text, place, CHANNELS)),
    name: flags.text("--name"),
    delaySeconds: flags.parse("--delay", (text, place) => parseDelay(text, place, timeContext(deps))),
    properties: await readPropertyFlags(flags),
    send: flags.is("--send"),
    lastSentAt: readRecordedTime(deps, flags, "--last-sent-at"),
    newEmail: flags.parse("--new-email", parseEmail),
    newPhone: flags.parse("--new-phone", parsePhone),
  };
}

export async function runPeopleAdd(deps: Deps, options: PeopleAddOptions): Promise<ExitCode> {
  checkIdentifiers(options);
  const properties = toProperties(options.properties);
  const body = toAddBody(options, properties);
  return addOrUpdatePerson(deps, async () => body, properties, { answer: ADDED_PERSON });
}

function checkIdentifiers({ email, phone, channel, newEmail, newPhone }: PeopleAddOptions): void {
  if (channel === "sms" && phone === null) throw new UsageError("--channel sms requires --phone");
  if (email === null && phone === null) throw new UsageError("specify --email or --phone");
  if (newEmail !== null && email === null) throw new UsageError("--new-email requires --email with the old address");
  if (newPhone !== null && phone === null) throw new UsageError("--new-phone requires --phone with the old number");
}

function toAddBody(options: PeopleAddOptions, properties: JsonObject | null): JsonObject {
  return toBody({
    email: options.email,
    phone_number: options.phone,
    channel: options.channel,
    name: options.name,
    delay: options.delaySeconds,
    properties,
    send: options.send ? null : false,
    last_sent_at: options.lastSentAt,
    email_update: options.newEmail,
    phone_number_update: options.newPhone,
  });
}
