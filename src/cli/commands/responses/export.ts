import type { Command } from "commander";
import type { RowKeys } from "../../../bulk/export/lists.ts";
import type { VersionKeys } from "../../../bulk/export/versions.ts";
import type { Client, Parameters } from "../../../client/client.ts";
import type { JsonObject } from "../../../contract/json.ts";
import { EXPANSIONS, ROUTES } from "../../../contract/routes.ts";
import { parseChoices } from "../../args/choice.ts";
import type { Flags } from "../../args/flags.ts";
import { parseEmail } from "../../args/people.ts";
import type { Deps } from "../../deps.ts";
import type { ExitCode } from "../../exit-codes.ts";
import { RESPONSES } from "../../render/resources.ts";
import { choicesOption } from "../choice-option.ts";
import type { CommandContext } from "../command-context.ts";
import { addExportFlags, describeFilters, EXPORT_EXITS, readExportFlags } from "../bulk-export/export-flags.ts";
import type { ExportRequest, RangeExportOptions } from "../bulk-export/export-request.ts";
import { CREATED, keysOf, pageList, textOf, timeOf, UPDATED } from "../bulk-export/export-sources.ts";
import { addRangeFlags, readRange, readTime } from "../time-flags.ts";
import { RESPONSE_FLAT_COLUMNS } from "./export-columns.ts";
import type { Expansion } from "./list.ts";

export interface ResponsesExportOptions extends RangeExportOptions {
  readonly updatedSince: number | null;
  readonly updatedUntil: number | null;
  readonly trend: string | null;
  readonly personId: string | null;
  readonly personEmail: string | null;
  /** Null: person and notes. */
  readonly expand: readonly Expansion[] | null;
}

const FILTERS = ["--since", "--until", "--updated-since", "--updated-until", "--trend", "--person-id", "--person-email", "--expand"];

export function registerResponsesExport(noun: Command, context: CommandContext): void {
  const command = context.verb(noun, {
    name: "export",
    summary: "write every survey response to a file or standard output",
    examples: [
      "surveyctl responses export --since 2026-01-01 --out responses.csv",
      "surveyctl responses export --state responses.state --append --out responses.csv",
      "surveyctl responses export --flatten --excel-safe --bom --out responses.csv",
    ],
    exits: EXPORT_EXITS,
  });
  addRangeFlags(command, "created");
  command
    .option("--updated-since <time>", "updated at or after")
    .option("--updated-until <time>", "updated at or before")
    .option("--trend <id>", "only those of a trend")
    .option("--person-id <id>", "only those of one person")
    .option("--person-email <email>", "only those of one person")
    .addOption(choicesOption("--expand <what>", "what comes whole and not as an id; may be repeated (default: both)", EXPANSIONS));
  addExportFlags(command, { hasState: true });
  context.action(command, (deps, flags) => runResponsesExport(deps, readOptions(deps, flags)));
}

function readOptions(deps: Deps, flags: Flags): ResponsesExportOptions {
  const expand = parseChoices(flags.all("--expand"), "--expand", EXPANSIONS);
  return {
    flags: readExportFlags(flags),
    ...readRange(deps, flags),
    updatedSince: readTime(deps, flags, "--updated-since", "first"),
    updatedUntil: readTime(deps, flags, "--updated-until", "last"),
    trend: flags.text("--trend"),
    personId: flags.text("--person-id"),
    personEmail: flags.parse("--person-email", parseEmail),
    expand: expand.length === 0 ? null : expand,
    filterText: describeFilters(flags, FILTERS),
  };
}

export async function runResponsesExport(deps: Deps, options: ResponsesExportOptions): Promise<ExitCode> {
  const { since, until, filterText } = options;
  const filters = toFilters(options);
  const request: ExportRequest = {
    command: "responses export",
    resource: RESPONSES,
    source: {
      list: (client, perPage) => pageList(client, { route: ROUTES.listResponses, parameters: { ...filters, per_page: perPage } }, CREATED),
      keys: keysOf("id", "created_at"),
      range: { since, until },
    },
    filterText,
    incremental: {
      source: (updatedSince) => ({
        list: (client, perPage) => pageList(client, updatedCall(filters, options, perPage), UPDATED),
        keys: UPDATED_KEYS,
        range: { since: Math.max(updatedSince, options.updatedSince ?? updatedSince), until: options.updatedUntil },
      }),
      versions: VERSIONS,
      watermark: (now) => Math.min(now, options.updatedUntil ?? now),
    },
    newest: (client, signal) => readNewest(client, filters, signal),
    count: isCountable(options) ? (client, range, signal) => countResponses(client, { ...range, trend: options.trend }, signal) : null,
    flat: RESPONSE_FLAT_COLUMNS,
  };
  const { exportList } = await import("../bulk-export/export-list.ts");
  return exportList(deps, request, options.flags);
}

/** Everything but the creation time, by which the list is read. */
function toFilters(options: ResponsesExportOptions): Parameters {
  return {
    updated_since: options.updatedSince,
    updated_until: options.updatedUntil,
    trend: options.trend,
    person_id: options.personId,
    person_email: options.personEmail,
    expand: [...(options.expand ?? EXPANSIONS)],
  };
}

function updatedCall(filters: Parameters, { since, until }: ResponsesExportOptions, perPage: number) {
  return { route: ROUTES.listResponses, parameters: { ...filters, since, until, order: "asc:updated_at", per_page: perPage } };
}

/** A response without a time of change is what it was when it came. */
const changedAt = (row: JsonObject): number | null => timeOf(row, "updated_at") ?? timeOf(row, "created_at");

const UPDATED_KEYS: RowKeys = { id: (row) => textOf(row, "id"), at: changedAt };

const VERSIONS: VersionKeys = {
  id: (row) => textOf(row, "id"),
  at: (row) => changedAt(row) ?? 0,
  content: (row) => JSON.stringify([row.score ?? null, row.comment ?? null, row.person_properties ?? null]),
};

async function readNewest(client: Client, filters: Parameters, signal: AbortSignal): Promise<number | null> {
  const parameters = { ...filters, expand: null, order: "desc", per_page: 1, page: 1 };
  const { rows } = await client.page({ route: ROUTES.listResponses, parameters, signal });
  return rows[0] === undefined ? null : timeOf(rows[0], "created_at");
}

/** Metrics know the creation time and trends, and nothing of persons and changes (4.7). */
function isCountable({ updatedSince, updatedUntil, personId, personEmail }: ResponsesExportOptions): boolean {
  return [updatedSince, updatedUntil, personId, personEmail].every((filter) => filter === null);
}

async function countResponses(client: Client, parameters: Parameters, signal: AbortSignal): Promise<number | null> {
  const { json } = await client.getMetrics(parameters, { signal });
  return typeof json.response_count === "number" ? json.response_count : null;
}
