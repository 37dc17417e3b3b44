import type { JsonObject } from "../../../contract/json.ts";
import type { Platform } from "../../../contract/resources.ts";
import { ROUTES } from "../../../contract/routes.ts";
import type { Deps } from "../../deps.ts";
import { UsageError } from "../../errors/usage-error.ts";
import { EXIT, type ExitCode } from "../../exit-codes.ts";
import { checkColumns } from "../../render/record-output.ts";
import { ADDED_MEMBER, MEMBERS } from "../../render/resources.ts";
import { writeDryRun } from "../dry-run.ts";
import { writeWarning } from "../notes.ts";
import { localeWarning, toProperties, type PropertySources } from "../survey-properties.ts";
import { withClient } from "../with-client.ts";
import { showOutcome } from "../write-outcome.ts";
import { toMemberParameters, type MemberIdentifiers } from "./member-identifiers.ts";

export interface AutopilotAddOptions {
  readonly platform: Platform;
  /** At least one. */
  readonly person: MemberIdentifiers;
  readonly name: string | null;
  readonly properties: PropertySources;
}

export async function runAutopilotAdd(deps: Deps, { platform, person, name, properties: sources }: AutopilotAddOptions): Promise<ExitCode> {
  checkReachable(platform, person);
  checkColumns(deps, ADDED_MEMBER);
  const properties = toProperties(sources);
  const warning = localeWarning(properties);
  if (warning !== null) await writeWarning(deps, warning);
  const body = toMemberBody(person, name, properties);
  return withClient(deps, async (client) => {
    if (deps.options.dryRun) {
      await writeDryRun(deps, client.baseUrl, { route: ROUTES.addMember, placeholders: { platform }, body });
      return EXIT.done;
    }
    const result = await client.addMember(platform, body, { signal: deps.signal });
    const evidence = `look with "surveyctl autopilot list --platform ${platform}"; adding again is safe`;
    return showOutcome(deps, result, { answer: ADDED_MEMBER, found: MEMBERS, evidence });
  });
}

function toMemberBody(person: MemberIdentifiers, name: string | null, properties: JsonObject | null): JsonObject {
  return {
    ...toMemberParameters(person),
    ...(name === null ? {} : { person_name: name }),
    ...(properties === null ? {} : { properties }),
  };
}

/** Somebody who is known already may be named by any identifier (4.9). */
function checkReachable(platform: Platform, { personId, email, phone }: MemberIdentifiers): void {
  if (personId !== null || email !== null || phone !== null) return;
  const own = platform === "email" ? "--email" : "--phone";
  throw new UsageError(`one of --person-id, --email and --phone is needed; surveys by ${platform} need ${own} for somebody new`);
}
