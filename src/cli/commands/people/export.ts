import type { Command } from "commander";
import { isJsonObject } from "../../../contract/json.ts";
import type { RowPage } from "../../../contract/row-page.ts";
import { ROUTES } from "../../../contract/routes.ts";
import { watchProperties } from "../../command/rows/watch-properties.ts";
import type { CommandContext } from "../../command/command-context.ts";
import type { Deps } from "../../command/deps.ts";
import { writeNote } from "../../command/notes.ts";
import { rangeFlags, readRange } from "../../command/time-flags.ts";
import { UsageError } from "../../errors/usage-error.ts";
import type { ExitCode } from "../../exit-codes.ts";
import { type RangeExport, toRangeRequest } from "../../export/range.ts";
import {
  describeFilters,
  EXPORT_EXITS,
  exportFlags,
  type ExportShaping,
  type FlatColumns,
  type RangeExportOptions,
  readExportFlags,
} from "../../export/request.ts";
import { CREATED, cursorList } from "../../export/sources.ts";
import { propertyColumn } from "../../render/columns.ts";
import { PEOPLE } from "../../render/resources.ts";
import {
  createPersonFilter,
  needsProperties,
  NO_PERSON_FILTERS,
  notKept,
  PERSON_FILTER_FLAGS,
  type PersonFilters,
  readPersonFilters,
  WITH_PROPERTIES,
} from "./person-filters.ts";

export interface PeopleExportOptions extends RangeExportOptions {
  readonly filters?: PersonFilters;
}

const FILTERS = PERSON_FILTER_FLAGS.map(({ flag }) => flag);

const COMMAND = "people export";

export function registerPeopleExport(noun: Command, context: CommandContext): void {
  const command = context.verb(noun, {
    name: "export",
    summary: "write everyone to a file or standard output",
    examples: [
      "surveyctl people export --out people.csv",
      "surveyctl people export --state people.state --append --out people.csv",
      "surveyctl people export --unanswered --flatten --out unanswered.csv",
    ],
    exits: EXPORT_EXITS,
    flags: [...rangeFlags("created"), ...PERSON_FILTER_FLAGS, ...exportFlags({ later: "new" })],
    columns: PEOPLE,
  });
  context.action(command, async (deps, flags) => {
    // The list's times are of creation: a later run would not see whoever has come to fit since.
    const filter = FILTERS.find((flag) => flags.is(flag) || flags.text(flag) !== null || flags.all(flag).length > 0);
    if (filter !== undefined && flags.text("--state") !== null)
      throw new UsageError(`--state and ${filter} cannot be used together: people come to fit after they were created`);
    return runPeopleExport(deps, {
      flags: readExportFlags(flags),
      ...readRange(deps, flags),
      filters: readPersonFilters(deps, flags),
      filterText: describeFilters(flags, ["--since", "--until"]),
    });
  });
}

export async function runPeopleExport(deps: Deps, options: PeopleExportOptions): Promise<ExitCode> {
  const { flags, since, until, filters = NO_PERSON_FILTERS, filterText } = options;
  const isFlat = flags.flatten;
  const parameters = isFlat || needsProperties(deps, filters) ? WITH_PROPERTIES : {};
  const rows: Omit<RangeExport, "summary" | "examples" | "what"> = {
    command: COMMAND,
    resource: PEOPLE,
    idField: "id",
    timeField: "created_at",
    list: (client, perPage) =>
      cursorList(client, { route: ROUTES.listPeople, parameters: { per_page: perPage, ...parameters } }, CREATED),
  };
  const request = toRangeRequest(rows, { since, until }, filterText);
  const { exportList } = await import("../../export/list.ts");
  const watched = watchProperties(deps, "people", { conditions: filters.properties });
  return exportList(watched, { ...request, flat: PROPERTY_COLUMNS, shaping: shape(deps, filters, isFlat) }, flags);
}

/** The rows that fit; and a note where properties were asked for and the service sends none. */
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
      if (isLacking) await writeNote(deps, `${notKept().message}: --flatten added no columns`);
    },
  };
}

const PROPERTY_COLUMNS: FlatColumns = {
  find: ({ properties }) => Object.keys(isJsonObject(properties) ? properties : {}),
  column: (key) => propertyColumn("properties", key),
};
