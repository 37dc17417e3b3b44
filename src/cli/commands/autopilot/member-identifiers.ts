/** The flags that name a platform and a person of Autopilot. */
import type { Command } from "commander";
import type { JsonObject } from "../../../contract/json.ts";
import { PLATFORMS, type Platform } from "../../../contract/resources.ts";
import { parseChoice } from "../../args/choice.ts";
import type { Flags } from "../../args/flags.ts";
import { parseEmail, parsePhone } from "../../args/people.ts";
import { choiceOption } from "../../command/choice-option.ts";

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

export function addPlatformFlag(command: Command): Command {
  return command.addOption(
    choiceOption("--platform <platform>", "how the surveys are sent", PLATFORMS, PLATFORM_DEFAULT),
  );
}

/** Throws UsageError. */
export function readPlatform(flags: Flags): Platform {
  return flags.parse("--platform", (text, place) => parseChoice(text, place, PLATFORMS)) ?? PLATFORM_DEFAULT;
}

export function addIdentifierFlags(command: Command): Command {
  return command
    .option("--person-id <id>", "the person's id")
    .option("--email <email>", "the person's address")
    .option("--phone <phone>", "the person's number (E.164)");
}

/** Throws UsageError. */
export function readIdentifiers(flags: Flags): MemberIdentifiers {
  return {
    personId: flags.text("--person-id"),
    email: flags.parse("--email", parseEmail),
    phone: flags.parse("--phone", parsePhone),
  };
}
