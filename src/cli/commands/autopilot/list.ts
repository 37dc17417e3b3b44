import type { Command } from "commander";
import type { Platform } from "../../../contract/resources.ts";
import type { Deps } from "../../command/deps.ts";
import { EXIT, type ExitCode } from "../../exit-codes.ts";
import { MEMBERS, SMS_MEMBERS } from "../../render/resources.ts";
import type { CommandContext } from "../../command/command-context.ts";
import { LIST_FLAGS, listRows, readLimits, type ListLimits } from "../../command/list-rows.ts";
import {
  IDENTIFIER_FLAGS,
  PLATFORM_FLAG,
  readIdentifiers,
  readPlatform,
  toMemberParameters,
  type MemberIdentifiers,
} from "./member-identifiers.ts";

export interface AutopilotListOptions {
  readonly limits: ListLimits;
  readonly platform: Platform;
  readonly person: MemberIdentifiers;
}

export function registerAutopilotList(noun: Command, context: CommandContext): void {
  const command = context.verb(noun, {
    name: "list",
    alias: "ls",
    summary: "list the people in Autopilot",
    examples: ["surveyctl autopilot list", "surveyctl autopilot list --platform sms --all -o csv"],
    exits: [EXIT.done, EXIT.failed, EXIT.auth, EXIT.refused],
    flags: [PLATFORM_FLAG, ...IDENTIFIER_FLAGS, ...LIST_FLAGS],
    columns: MEMBERS,
  });
  context.action(command, (deps, flags) =>
    runAutopilotList(deps, {
      limits: readLimits(flags),
      platform: readPlatform(flags),
      person: readIdentifiers(flags),
    }),
  );
}

export async function runAutopilotList(
  deps: Deps,
  { limits, platform, person }: AutopilotListOptions,
): Promise<ExitCode> {
  return listRows(deps, {
    resource: platform === "sms" ? SMS_MEMBERS : MEMBERS,
    limits,
    parameters: toMemberParameters(person),
    pages: (client, parameters, options) => client.listMembers(platform, parameters, options),
  });
}
