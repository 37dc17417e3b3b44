import type { JsonObject } from "../../../contract/json.ts";

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
