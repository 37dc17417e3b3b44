import { LIMITS, listRows } from "../../kit/rows/list-rows.ts";
import { defineCommand } from "../../kit/define-command.ts";
import { MEMBERS, SMS_MEMBERS } from "../../render/resources.ts";
import { MEMBER, PLATFORM, toMemberParameters } from "./member-identifiers.ts";

export const list = defineCommand({
  name: "list",
  summary: "list the people in Autopilot",
  examples: ["surveyctl autopilot list", "surveyctl autopilot list --platform sms --all -o csv"],
  flags: { platform: PLATFORM, member: MEMBER, limits: LIMITS },
  columns: MEMBERS,
  run: (deps, { platform, member, limits }) =>
    listRows(deps, {
      resource: platform === "sms" ? SMS_MEMBERS : MEMBERS,
      limits,
      parameters: toMemberParameters(member),
      pages: (client, parameters, options) => client.listMembers(platform, parameters, options),
    }),
});
