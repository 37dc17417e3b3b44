import type { PagedList } from "../../../bulk/export/lists.ts";
import type { Client } from "../../../client/client.ts";
import { isJsonObject, type JsonObject } from "../../../contract/json.ts";
import { ROUTES } from "../../../contract/routes.ts";
import { EXPORT_EXITS, exportFile, type ExportRequest, type FlatColumns } from "../../export/request.ts";
import { pagedList, textOf, timeOf } from "../../export/sources.ts";
import { defineCommand } from "../../kit/define-command.ts";
import { MEMBERS } from "../../render/resources.ts";
import { MEMBER, PLATFORM, toMemberParameters } from "./member-identifiers.ts";

/** The API's list of members has no time filters (4.8). */
export const exportMembers = defineCommand({
  name: "export",
  summary: "write everyone in Autopilot to a file or standard output",
  examples: [
    "surveyctl autopilot export --out members.csv",
    "surveyctl autopilot export --platform sms --flatten --out sms.csv.gz",
  ],
  exits: EXPORT_EXITS,
  flags: { platform: PLATFORM, member: MEMBER, file: exportFile(null) },
  columns: MEMBERS,
  run: async (deps, { platform, member, file }) => {
    const person = toMemberParameters(member);
    const list = (client: Client, perPage: number): PagedList =>
      pagedList(
        client,
        { route: ROUTES.listMembers, placeholders: { platform }, parameters: { per_page: perPage, ...person } },
        null,
      );
    const keys = { id: personIdOf, at: (row: JsonObject) => timeOf(row, "created_at") };
    const request: ExportRequest = {
      command: "autopilot export",
      resource: MEMBERS,
      source: { list, keys, range: { since: null, until: null } },
      filterText: "",
      incremental: null,
      count: null,
      flat: PROPERTY_COLUMNS,
    };
    const { exportList } = await import("../../export/list.ts");
    return exportList(deps, request, file);
  },
});

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
