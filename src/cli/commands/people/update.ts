import type { JsonObject } from "../../../contract/json.ts";
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
  return sendPerson(deps, toUpdateBody(options, properties), properties, nameOf(person));
}

/**
 * `email_update` and `phone_number_update` go with the old value of the same kind (4.2). A person named by the other
 * kind is given the new value instead.
 */
function toUpdateBody({ person, name, newEmail, newPhone }: PeopleUpdateOptions, properties: JsonObject | null): JsonObject {
  const byEmail = "email" in person;
  return toBody({
    email: byEmail ? person.email : newEmail,
    phone_number: byEmail ? newPhone : person.phone_number,
    name,
    properties,
    send: false,
    email_update: byEmail ? newEmail : null,
    phone_number_update: byEmail ? null : newPhone,
  });
}
