import type { Command } from "commander";
import type { RowKeys } from "../../../bulk/export/lists.ts";
import type { VersionKeys } from "../../../bulk/export/versions.ts";
import type { Parameters } from "../../../client/client.ts";
import { isJsonObject, type JsonObject } from "../../../contract/json.ts";
import { EXPANSIONS, ROUTES } from "../../../contract/routes.ts";
import type { Deps } from "../../command/deps.ts";
import { noTrend, withRefusals } from "../../command/refusals.ts";
import type { ExitCode } from "../../exit-codes.ts";
import { RESPONSES } from "../../render/resources.ts";
import type { CommandContext } from "../../command/command-context.ts";
import {
  describeFilters,
  EXPORT_EXITS,
  exportFlags,
  readExportFlags,
  type ExportRequest,
  type ExportSource,
  type FlatColumns,
  type RangeExportOptions,
} from "../../export/request.ts";
import { CREATED, keysOf, pageList, textOf, timeOf, UPDATED } from "../../export/sources.ts";
import { pathColumn, propertyColumn } from "../../render/columns.ts";
import { forSelection } from "./selection/selection.ts";
import {
  NO_ROW_FILTERS,
  ROW_FLAGS,
  createPageFilter,
  readRowFilters,
  type RowFilters,
} from "./selection/row-filters.ts";
import { REDACT_FLAG, createRedaction } from "./selection/redaction.ts";
import {
  countResponses,
  FILTER_FLAGS,
  expandFlag,
  isCountable,
  isCounted,
  readFilters,
  toFilterParameters,
  type ResponseFilters,
} from "./selection/service-filters.ts";

export interface ResponsesExportOptions extends RangeExportOptions, ResponseFilters {
  readonly rows?: RowFilters;
  readonly redact?: boolean;
}

/** Of another selection, or of masked rows, an older state tells nothing. */
const FILTERS = [...FILTER_FLAGS, expandFlag("both"), ...ROW_FLAGS, REDACT_FLAG].map(({ flag }) => flag);

export function registerResponsesExport(noun: Command, context: CommandContext): void {
  const command = context.verb(noun, {
    name: "export",
    summary: "write every survey response to a file or standard output",
    examples: [
      "surveyctl responses export --since 2026-01-01 --out responses.csv",
      "surveyctl responses export --state responses.state --append --out responses.csv",
      "surveyctl responses export --flatten --excel --out responses.csv",
      "surveyctl responses export --score 0-6 --has-comment --redact --out complaints.csv",
    ],
    exits: EXPORT_EXITS,
    flags: [
      ...FILTER_FLAGS,
      ...ROW_FLAGS,
      REDACT_FLAG,
      expandFlag("both"),
      ...exportFlags({ later: "new or changed" }),
    ],
    columns: RESPONSES,
  });
  context.action(command, (deps, flags) =>
    runResponsesExport(deps, {
      flags: readExportFlags(flags),
      ...readFilters(deps, flags),
      rows: readRowFilters(flags),
      redact: flags.is("--redact"),
      filterText: describeFilters(flags, FILTERS),
    }),
  );
}

export async function runResponsesExport(deps: Deps, options: ResponsesExportOptions): Promise<ExitCode> {
  const { since, until, filterText } = options;
  // Everything but the creation time, by which the list is read.
  const asked = options.expand ?? EXPANSIONS;
  const redaction = options.redact === true ? createRedaction(deps, asked) : null;
  const filterPage = createPageFilter(options.rows ?? NO_ROW_FILTERS);
  const filters = { ...toFilterParameters(options), expand: [...(redaction?.expand ?? asked)] };
  const source: ExportSource = {
    list: (client, perPage) =>
      pageList(client, { route: ROUTES.listResponses, parameters: { ...filters, per_page: perPage } }, CREATED),
    keys: keysOf("id", "created_at"),
    range: { since, until },
  };
  const request: ExportRequest = {
    command: "responses export",
    resource: RESPONSES,
    source,
    filterText,
    incremental: {
      source: (updatedSince) => ({
        list: (client, perPage) => pageList(client, updatedCall(filters, options, perPage), UPDATED),
        keys: UPDATED_KEYS,
        range: { since: Math.max(updatedSince, options.updatedSince ?? updatedSince), until: options.updatedUntil },
      }),
      unstamped: (createdSince) => ({
        source: { ...source, range: { since: Math.max(createdSince, since ?? createdSince), until } },
        has: (row) => timeOf(row, "updated_at") === null,
      }),
      versions: RESPONSE_VERSIONS,
      watermark: (now) => Math.min(now, options.updatedUntil ?? now),
    },
    count:
      filterPage === null && isCountable(options)
        ? {
            ask: (client, range, signal) => countResponses(client, { ...range, trend: options.trend }, { signal }),
            isCounted,
          }
        : null,
    flat: RESPONSE_FLAT_COLUMNS,
    shaping: { filterPage, rewrite: redaction?.page ?? null, writeNotes: async () => redaction?.writeNotes() },
  };
  const { exportList } = await import("../../export/list.ts");
  return withRefusals(exportList(forSelection(deps, options), request, options.flags), noTrend(options.trend));
}

function updatedCall(filters: Parameters, { since, until }: ResponsesExportOptions, perPage: number) {
  return {
    route: ROUTES.listResponses,
    parameters: { ...filters, since, until, order: "asc:updated_at", per_page: perPage },
  };
}

/** A response without a time of change is what it was when it came. */
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
