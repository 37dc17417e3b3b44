import type { RowKeys } from "../../../bulk/export/lists.ts";
import type { VersionKeys } from "../../../bulk/export/versions.ts";
import { isJsonObject, type JsonObject } from "../../../contract/json.ts";
import { EXPANSIONS, ROUTES } from "../../../contract/routes.ts";
import { noTrend, withRefusals } from "../../kit/refusals.ts";
import {
  EXPORT_EXITS,
  exportFile,
  type ExportRequest,
  type ExportSource,
  type FlatColumns,
  textOfFilters,
} from "../../export/request.ts";
import { CREATED, keysOf, pagedList, textOf, timeOf, UPDATED } from "../../export/sources.ts";
import { defineCommand } from "../../kit/define-command.ts";
import { pathColumn, propertyColumn } from "../../render/columns.ts";
import { RESPONSES } from "../../render/resources.ts";
import {
  countResponses,
  expandFlag,
  forSelection,
  isCountable,
  isCounted,
  type Selection,
  SELECTION,
  toFilterParameters,
} from "./selection.ts";
import { createShaping, type Shaping } from "./shaping.ts";

const EXPAND_BOTH = expandFlag("both");

export const exportAll = defineCommand({
  name: "export",
  summary: "write every survey response to a file or standard output",
  examples: [
    "surveyctl responses export --since 2026-01-01 --out responses.csv",
    "surveyctl responses export --state responses.state --append --out responses.csv",
    "surveyctl responses export --flatten --excel --out responses.csv",
    "surveyctl responses export --score 0-6 --has-comment --redact --out complaints.csv",
  ],
  flags: {
    selection: SELECTION,
    expand: EXPAND_BOTH,
    file: exportFile("new or changed"),
    filterText: textOfFilters(...[...SELECTION.records, ...EXPAND_BOTH.records].map(({ flag }) => flag)),
  },
  columns: RESPONSES,
  exits: EXPORT_EXITS,
  async run(deps, { selection, expand, file, filterText }) {
    const shaping = await createShaping(deps, selection, expand ?? EXPANSIONS);
    const { exportList } = await import("../../export/list.ts");
    const exported = exportList(forSelection(deps, selection), toRequest(selection, shaping, filterText), file);
    return withRefusals(exported, noTrend(selection.trend));
  },
});

function toRequest(selection: Selection, shaping: Shaping, filterText: string): ExportRequest {
  const { created, updated, trend } = selection;
  const { since, until } = created;
  const filters = { ...toFilterParameters(selection), expand: shaping.expand };
  const parameters = { ...filters, since, until, order: "asc:updated_at" };
  const source: ExportSource = {
    list: (client, perPage) =>
      pagedList(client, { route: ROUTES.listResponses, parameters: { ...filters, per_page: perPage } }, CREATED),
    keys: keysOf("id", "created_at"),
    range: { since, until },
  };
  return {
    command: "responses export",
    resource: RESPONSES,
    source,
    filterText,
    incremental: {
      source: (updatedSince) => ({
        list: (client, perPage) =>
          pagedList(client, { route: ROUTES.listResponses, parameters: { ...parameters, per_page: perPage } }, UPDATED),
        keys: UPDATED_KEYS,
        range: { since: Math.max(updatedSince, updated.since ?? updatedSince), until: updated.until },
      }),
      unstamped: (createdSince) => ({
        source: { ...source, range: { since: Math.max(createdSince, since ?? createdSince), until } },
        has: (row) => timeOf(row, "updated_at") === null,
      }),
      versions: RESPONSE_VERSIONS,
      watermark: (now) => Math.min(now, updated.until ?? now),
    },
    count:
      shaping.filterPage === null && isCountable(selection)
        ? { ask: (client, range, signal) => countResponses(client, range, trend, { signal }), isCounted }
        : null,
    flat: RESPONSE_FLAT_COLUMNS,
    shaping,
  };
}

/** A response without `updated_at` hasn't changed since it arrived. */
export const changedAt = (row: JsonObject): number | null => timeOf(row, "updated_at") ?? timeOf(row, "created_at");

export const UPDATED_KEYS: RowKeys = { id: (row) => textOf(row, "id"), at: changedAt };

export const RESPONSE_VERSIONS: VersionKeys = {
  id: (row) => textOf(row, "id"),
  at: (row) => changedAt(row) ?? 0,
  content(row) {
    const added = [row.notes, row.tags, row.additional_answers].filter(
      (list) => Array.isArray(list) && list.length > 0,
    );
    return JSON.stringify([row.score ?? null, row.comment ?? null, row.person_properties ?? null, ...added]);
  },
};

const PROPERTIES = "person_properties";

const RESPONSE_FLAT_COLUMNS: FlatColumns = {
  find: (row) => [
    ...Object.keys(isJsonObject(row[PROPERTIES]) ? row[PROPERTIES] : {}).map((key) => `${PROPERTIES}.${key}`),
    ...(RESPONSES.found?.in([row]) ?? []).map(({ name }) => name),
  ],
  column: (name) =>
    name.startsWith(PROPERTIES)
      ? propertyColumn(PROPERTIES, name.slice(PROPERTIES.length + 1))
      : (RESPONSES.found?.named(name) ?? pathColumn(name)),
};
