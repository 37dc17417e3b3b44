import type { Deps } from "../../deps.ts";
import { UsageError } from "../../errors/usage-error.ts";
import type { ExitCode } from "../../exit-codes.ts";
import { toProperties, type PropertySources } from "../survey-properties.ts";
import { nameOf, type EmailOrPhone } from "./person-reference.ts";
import { sendPerson, toBody } from "./send.ts";

export interface PeopleUpdateOptions {
  readonly person: EmailOrPhone;
  readonly name: string | null;
  readonly properties: PropertySources;
  readonly newEmail: string | null;
  readonly newPhone: string | null;
}

/** Never sends a survey: the request always says `send: false`. */
export async function runPeopleUpdate(deps: Deps, options: PeopleUpdateOptions): Promise<ExitCode> {
  const { person, name, newEmail, newPhone } = options;
  const properties = toProperties(options.properties);
  if (name === null && properties === null && newEmail === null && newPhone === null) {
    throw new UsageError("nothing to change: give --name, --property, --properties, --new-email or --new-phone");
  }
  if (newEmail !== null && !("email" in person)) throw new UsageError("--new-email needs the person named by the old e-mail address");
  const body = toBody({ ...person, name, properties, send: false, email_update: newEmail, phone_number_update: newPhone });
  return sendPerson(deps, body, properties, nameOf(person));
}
