import type { Client } from "../../../client/client.ts";
import { isJsonObject } from "../../../contract/json.ts";
import type { RowPage } from "../../../contract/row-page.ts";
import { ROUTES } from "../../../contract/routes.ts";
import type { Deps } from "../../kit/deps.ts";
import { writeNote } from "../../kit/notes.ts";
import { watchProperties } from "../../kit/rows/watch-properties.ts";
import { timeRange } from "../../kit/time-flags.ts";
import {
  chooseExportFormat,
  EXPORT_EXITS,
  exportFile,
  type ExportShaping,
  type FlatColumns,
  textOfFilters,
  toRangeRequest,
} from "../../export/request.ts";
import { CREATED, pagedList } from "../../export/sources.ts";
import { defineCommand } from "../../kit/define-command.ts";
import { propertyColumn } from "../../render/columns.ts";
import { PEOPLE } from "../../render/resources.ts";
import {
  createPersonFilter,
  needsProperties,
  noStoredProperties,
  PERSON_FILTERS,
  type PersonFilters,
  WITH_PROPERTIES,
} from "./person-filters.ts";

export const exportPeople = defineCommand({
  name: "export",
  summary: "write everyone to a file or standard output",
  examples: [
    "surveyctl people export --out people.csv",
    "surveyctl people export --state people.state --append --out people.csv",
    "surveyctl people export --unanswered --flatten --out unanswered.csv",
  ],
  exits: EXPORT_EXITS,
  flags: {
    range: timeRange("created"),
    filters: PERSON_FILTERS,
    filterText: textOfFilters("--since", "--until"),
    file: exportFile("new"),
  },
  // Later runs read only people created since, so they would miss an older person who starts to match a filter.
  conflicts: [["--state", ...PERSON_FILTERS.records.map(({ flag }) => flag)]],
  columns: PEOPLE,
  run: async (deps, { range, filters, filterText, file }) => {
    const isFull = file.flatten || needsProperties(deps, filters, chooseExportFormat(file));
    const parameters = isFull ? WITH_PROPERTIES : {};
    const rows = {
      command: "people export",
      resource: PEOPLE,
      idField: "id",
      timeField: "created_at",
      list: (client: Client, perPage: number) =>
        pagedList(client, { route: ROUTES.listPeople, parameters: { per_page: perPage, ...parameters } }, CREATED),
    };
    const request = {
      ...toRangeRequest(rows, range, filterText),
      flat: PROPERTY_COLUMNS,
      shaping: shape(deps, filters, file.flatten),
    };
    const { exportList } = await import("../../export/list.ts");
    return exportList(watchProperties(deps, "people", { conditions: filters.properties }), request, file);
  },
});

function shape(deps: Deps, filters: PersonFilters, isFlat: boolean): ExportShaping {
  const filterPage = createPersonFilter(filters);
  let isLacking = false;
  const look = (page: RowPage): RowPage => {
    isLacking ||= page.rows.some((row) => !("properties" in row));
    return filterPage === null ? page : filterPage(page);
  };
  return {
    filterPage: isFlat ? look : filterPage,
    rewrite: null,
    writeNotes: async () => {
      if (isLacking) await writeNote(deps, `${noStoredProperties().message}: --flatten added no columns`);
    },
  };
}

const PROPERTY_COLUMNS: FlatColumns = {
  find: ({ properties }) => Object.keys(isJsonObject(properties) ? properties : {}),
  column: (key) => propertyColumn("properties", key),
};
