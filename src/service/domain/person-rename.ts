/** `email_update` and `phone_number_update`, section 4.2. */
import { InvalidError } from "./errors.ts";
import type { Project, SendInput } from "./inputs.ts";
import { PEOPLE_NAMES, changePerson, identify, translateTaken } from "./person-identity.ts";
import type { PersonRow, Transaction } from "./ports.ts";

const UPDATE_NAMES = { id: "id", email: "email_update", phoneNumber: "phone_number_update" };

/** Gives the person whom the old values name the new ones. Somebody else's, or the old ones nobody's: InvalidError. */
export async function renamePerson(tx: Transaction, project: Project, input: SendInput): Promise<PersonRow> {
  const person = await identify(tx, project, input, PEOPLE_NAMES);
  if (person === null) throw unknown(input.email === null ? "phone_number" : "email");
  if (input.emailUpdate !== null && !samePerson(person, input)) throw unknown("email");
  // With send=false the old values name the person and change nothing.
  const named = (value: string | null): string | null => (input.send ? value : null);
  if (input.phoneNumberUpdate !== null && person.phoneNumber !== input.phoneNumber) throw unknown("phone_number");
  try {
    return await changePerson(tx, project, person, {
      email: input.emailUpdate ?? person.email ?? named(input.email),
      phoneNumber: input.phoneNumberUpdate ?? named(input.phoneNumber) ?? person.phoneNumber,
    });
  } catch (error) {
    throw translateTaken(error, UPDATE_NAMES);
  }
}

/** Whether the old e-mail is this person's own: the phone may have named somebody without one. */
function samePerson(person: PersonRow, input: SendInput): boolean {
  return input.email !== null && person.email !== null;
}

function unknown(attribute: string): InvalidError {
  return new InvalidError({ [attribute]: ["does not exist"] });
}
