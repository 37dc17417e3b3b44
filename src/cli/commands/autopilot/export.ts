import type { Command } from "commander";
import { isJsonObject, type JsonObject } from "../../../contract/json.ts";
import type { Platform } from "../../../contract/resources.ts";
import { ROUTES } from "../../../contract/routes.ts";
import type { Deps } from "../../command/deps.ts";
import type { ExitCode } from "../../exit-codes.ts";
import { MEMBERS } from "../../render/resources.ts";
import type { CommandContext } from "../../command/command-context.ts";
import {
  EXPORT_EXITS,
  exportFlags,
  readExportFlags,
  type ExportFlags,
  type FlatColumns,
} from "../../export/request.ts";
import { cursorList, textOf, timeOf } from "../../export/sources.ts";
import {
  IDENTIFIER_FLAGS,
  PLATFORM_FLAG,
  readIdentifiers,
  readPlatform,
  toMemberParameters,
  type MemberIdentifiers,
} from "./member-identifiers.ts";

export interface AutopilotExportOptions {
  readonly flags: ExportFlags;
  readonly platform: Platform;
  /** At most one person; everyone when none is given. */
  readonly person: MemberIdentifiers;
}

export function registerAutopilotExport(noun: Command, context: CommandContext): void {
  const command = context.verb(noun, {
    name: "export",
    summary: "write everyone in Autopilot to a file or standard output",
    examples: [
      "surveyctl autopilot export --out members.csv",
      "surveyctl autopilot export --platform sms --flatten --out sms.csv.gz",
    ],
    exits: EXPORT_EXITS,
    flags: [PLATFORM_FLAG, ...IDENTIFIER_FLAGS, ...exportFlags({ later: null })],
    columns: MEMBERS,
  });
  context.action(command, (deps, flags) =>
    runAutopilotExport(deps, {
      flags: readExportFlags(flags),
      platform: readPlatform(flags),
      person: readIdentifiers(flags),
    }),
  );
}

/** One pass: the list has no time filters (4.8). */
export async function runAutopilotExport(deps: Deps, options: AutopilotExportOptions): Promise<ExitCode> {
  const { flags, platform } = options;
  const person = toMemberParameters(options.person);
  const { exportList } = await import("../../export/list.ts");
  return exportList(
    deps,
    {
      command: "autopilot export",
      resource: MEMBERS,
      source: {
        list: (client, perPage) =>
          cursorList(
            client,
            { route: ROUTES.listMembers, placeholders: { platform }, parameters: { per_page: perPage, ...person } },
            null,
          ),
        keys: { id: personIdOf, at: (row) => timeOf(row, "created_at") },
        range: { since: null, until: null },
      },
      filterText: "",
      incremental: null,
      count: null,
      flat: PROPERTY_COLUMNS,
    },
    flags,
  );
}

function personIdOf(row: JsonObject): string {
  return isJsonObject(row.person) && "id" in row.person ? textOf(row.person, "id") : textOf(row, "person");
}

function propertiesOf({ next_survey_request: request }: JsonObject): JsonObject {
  return isJsonObject(request) && isJsonObject(request.properties) ? request.properties : {};
}

const PROPERTY_COLUMNS: FlatColumns = {
  find: (row) => Object.keys(propertiesOf(row)),
  column: (key) => ({
    name: `properties.${key}`,
    kind: "text",
    read: (row) => (Object.hasOwn(propertiesOf(row), key) ? propertiesOf(row)[key] : undefined),
  }),
};
