import type { JsonObject } from "../../../contract/json.ts";
import { PLATFORMS } from "../../../contract/resources.ts";
import { parseEmail, parsePhone } from "../../args/people.ts";
import { parseName } from "../../args/values.ts";
import { toBody } from "../../kit/write-outcome.ts";
import { flagGroup, type FlagSpec, type GroupValue } from "../../kit/flag-spec.ts";

export const PLATFORM = {
  value: "platform",
  text: "how the surveys are sent",
  choices: PLATFORMS,
  default: "email",
} as const satisfies FlagSpec;

export const MEMBER = flagGroup({
  personId: { value: "id", text: "the person's id", parse: parseName },
  email: { value: "email", text: "the person's address", parse: parseEmail },
  phone: { value: "phone", text: "the person's number (E.164)", parse: parsePhone },
});

export type MemberIdentifiers = GroupValue<typeof MEMBER>;

/** Names the parameters as in the Autopilot calls (4.8 to 4.10). */
export function toMemberParameters({ personId, email, phone }: MemberIdentifiers): JsonObject {
  return toBody({ person_id: personId, person_email: email, person_phone_number: phone });
}
