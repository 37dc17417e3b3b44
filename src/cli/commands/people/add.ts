import type { Command } from "commander";
import type { JsonObject } from "../../../contract/json.ts";
import { CHANNELS, type Channel } from "../../../contract/routes.ts";
import { parseChoice } from "../../args/choice.ts";
import type { Flags } from "../../args/flags.ts";
import { parseEmail, parsePhone } from "../../args/people.ts";
import { parseDelay } from "../../args/time.ts";
import type { Deps } from "../../command/deps.ts";
import { UsageError } from "../../errors/usage-error.ts";
import { EXIT, type ExitCode } from "../../exit-codes.ts";
import { choiceOption } from "../../command/choice-option.ts";
import type { CommandContext } from "../../command/command-context.ts";
import { addPropertyFlags, readPropertyFlags } from "../../command/property-flags.ts";
import { toProperties, type PropertySources } from "../../command/survey-properties.ts";
import { readTime, timeContext } from "../../command/time-flags.ts";
import { sendPerson, toBody } from "./send.ts";

export interface PeopleAddOptions {
  readonly email: string | null;
  readonly phone: string | null;
  readonly channel: Channel | null;
  readonly name: string | null;
  readonly delaySeconds: number | null;
  readonly properties: PropertySources;
  /** False with `--no-send`. */
  readonly send: boolean;
  /** Unix seconds. */
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
  });
  command
    .option("--email <email>", "address; required unless --phone is given")
    .option("--phone <phone>", "number (E.164); required for --channel sms")
    .addOption(choiceOption("--channel <channel>", "how the survey is sent; without it by e-mail", CHANNELS))
    .option("--name <name>", "the person's name")
    .option("--delay <duration>", "wait that long before sending, as in 3600, 1h or tomorrow (default: 0)")
    .option("--no-send", "save the person and send no survey")
    .option("--last-sent-at <time>", "when the person was last sent a survey; throttling considers it")
    .option("--new-email <email>", "change the address that --email names to this one")
    .option("--new-phone <phone>", "change the number that --phone names to this one");
  addPropertyFlags(command);
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
    lastSentAt: readTime(deps, flags, "--last-sent-at", "first"),
    newEmail: flags.parse("--new-email", parseEmail),
    newPhone: flags.parse("--new-phone", parsePhone),
  };
}

export async function runPeopleAdd(deps: Deps, options: PeopleAddOptions): Promise<ExitCode> {
  checkIdentifiers(options);
  const properties = toProperties(options.properties);
  const who = options.email ?? options.phone ?? "";
  return sendPerson(deps, toAddBody(options, properties), properties, { who });
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
