import type { JsonObject } from "../../../contract/json.ts";
import type { Channel } from "../../../contract/routes.ts";
import type { Deps } from "../../deps.ts";
import { UsageError } from "../../errors/usage-error.ts";
import type { ExitCode } from "../../exit-codes.ts";
import { toProperties, type PropertySources } from "../survey-properties.ts";
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

export async function runPeopleAdd(deps: Deps, options: PeopleAddOptions): Promise<ExitCode> {
  checkIdentifiers(options);
  const properties = toProperties(options.properties);
  const who = options.email ?? options.phone ?? "";
  return sendPerson(deps, toAddBody(options, properties), properties, who);
}

function checkIdentifiers({ email, phone, channel, newEmail, newPhone }: PeopleAddOptions): void {
  if (channel === "sms" && phone === null) throw new UsageError("--channel sms needs --phone");
  if (email === null && phone === null) throw new UsageError("one of --email and --phone is needed");
  if (newEmail !== null && email === null) throw new UsageError("--new-email needs --email with the old address");
  if (newPhone !== null && phone === null) throw new UsageError("--new-phone needs --phone with the old number");
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
