/** The flags that name a platform and a person of Autopilot. */
import type { JsonObject } from "../../../contract/json.ts";
import { type Platform, PLATFORMS } from "../../../contract/resources.ts";
import { parseChoice, parseName } from "../../args/values.ts";
import type { FlagRecord } from "../../args/flag-record.ts";
import type { Flags } from "../../args/flags.ts";
import { parseEmail, parsePhone } from "../../args/people.ts";

/** `--person-id`, `--email`, `--phone`; null where not given. */
export interface MemberIdentifiers {
  readonly personId: string | null;
  readonly email: string | null;
  readonly phone: string | null;
}

/** As the Autopilot calls name them, those given only (4.8 to 4.10). */
export function toMemberParameters({ personId, email, phone }: MemberIdentifiers): JsonObject {
  const named = { person_id: personId, person_email: email, person_phone_number: phone };
  return Object.fromEntries(Object.entries(named).flatMap(([name, value]) => (value === null ? [] : [[name, value]])));
}

const PLATFORM_DEFAULT: Platform = "email";

export const PLATFORM_FLAG: FlagRecord = {
  flag: "--platform",
  value: "platform",
  text: "how the surveys are sent",
  choices: PLATFORMS,
  default: PLATFORM_DEFAULT,
};

export function readPlatform(flags: Flags): Platform {
  return flags.parse("--platform", (text, place) => parseChoice(text, place, PLATFORMS)) ?? PLATFORM_DEFAULT;
}

export const IDENTIFIER_FLAGS: readonly FlagRecord[] = [
  { flag: "--person-id", value: "id", text: "the person's id" },
  { flag: "--email", value: "email", text: "the person's address" },
  { flag: "--phone", value: "phone", text: "the person's number (E.164)" },
];

export function readIdentifiers(flags: Flags): MemberIdentifiers {
  return {
    personId: flags.parse("--person-id", parseName),
    email: flags.parse("--email", parseEmail),
    phone: flags.parse("--phone", parsePhone),
  };
}
