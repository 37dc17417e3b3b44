import type { Platform } from "../../../contract/resources.ts";
import type { Deps } from "../../deps.ts";
import type { ExitCode } from "../../exit-codes.ts";
import { MEMBERS } from "../../render/resources.ts";
import { listRows, type ListLimits } from "../list-rows.ts";
import { toMemberParameters, type MemberIdentifiers } from "./member-identifiers.ts";

export interface AutopilotListOptions {
  readonly limits: ListLimits;
  readonly platform: Platform;
  readonly person: MemberIdentifiers;
}

export async function runAutopilotList(deps: Deps, { limits, platform, person }: AutopilotListOptions): Promise<ExitCode> {
  return listRows(deps, {
    resource: MEMBERS,
    limits,
    parameters: toMemberParameters(person),
    pages: (client, parameters, options) => client.listMembers(platform, parameters, options),
  });
}
