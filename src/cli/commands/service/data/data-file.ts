import { existsSync, statSync } from "node:fs";
import {
  chooseAnyPlace,
  chooseServicePlace,
  type DataPlace,
  dataPlace,
  type DataFileChoice,
  readPlace,
  showDatabase,
} from "../../../kit/data/data-place.ts";
import type { Store } from "../../../../service/domain/ports.ts";
import type { Confirmation } from "../../../../service/domain/errors.ts";
import type { Admin, OperationName, ResultOf } from "../../../../service/operations/index.ts";
import type { CommandOptions } from "../../../../service/data-file/administer.ts";
import type { Deps } from "../../../kit/deps.ts";
import { asCliError } from "../../../kit/data/data-file-errors.ts";
import { confirmRemoval, type Removal } from "../../../kit/removal.ts";
import type { ListLimits } from "../../../kit/rows/list-rows.ts";
import { countOf, formatCount } from "../../../../contract/text/whole-number.ts";
import { writeDone, writeNote } from "../../../kit/notes.ts";
import { DataFileError } from "../../../errors/command-errors.ts";
import { UsageError } from "../../../errors/usage-error.ts";
import { EXIT } from "../../../exit-codes.ts";
import type { Json, JsonObject } from "../../../../contract/json.ts";
import type { RowPage } from "../../../../contract/row-page.ts";
import type { FlagGroup } from "../../../kit/flag-spec.ts";
import type { Resource } from "../../../render/columns.ts";
import { openListOutput } from "../../../render/list-output.ts";
import { withPager } from "../../../streams/paging.ts";
import { writeRecord } from "../../../render/record-output.ts";

/** `sender` is only needed by commands that send email themselves. */
export interface AdminChoice extends DataFileChoice, Pick<CommandOptions, "sender"> {
  /** If true, the command changes data, so a default data file is mentioned even with `--quiet`. */
  readonly changes?: boolean;
}

export async function withAdmin<Result>(
  deps: Deps,
  choice: AdminChoice,
  project: string | null,
  work: (admin: Admin, project: string) => Promise<Result>,
): Promise<Result> {
  rejectDryRun(deps);
  const place = await chooseAnyPlace(deps, choice);
  if (place.kind !== "remote")
    return administerHere(deps, place, choice, (admin) => work(admin, project ?? PROJECT_DEFAULT));
  const { withRemoteAdmin } = await import("./remote-admin.ts");
  return withRemoteAdmin(deps, choice.changes ?? false, work);
}

/** For work that needs the store itself, which is only possible on this machine. */
export async function withStore<Result>(
  deps: Deps,
  choice: AdminChoice,
  work: (admin: Admin, store: Store) => Promise<Result>,
): Promise<Result> {
  rejectDryRun(deps);
  return administerHere(deps, await chooseServicePlace(deps, choice), choice, work);
}

async function administerHere<Result>(
  deps: Deps,
  place: DataPlace,
  { changes = false, sender }: AdminChoice,
  work: (admin: Admin, store: Store) => Promise<Result>,
): Promise<Result> {
  const { administer } = await import("../../../../service/data-file/administer.ts");
  const data = existingData(place);
  // The default file may not be the intended one.
  if (place.kind === "file" && !place.isNamed)
    await (changes ? noteUnnamed(deps, place.dataFile) : writeNote(deps, `using ${place.dataFile}`));
  const { clock, random } = deps;
  return asCliError(() => administer({ ...data, clock, random, ...(sender !== undefined && { sender }) }, work));
}

/** For a database, `dataFile` is the URL without its password, for use in messages. */
export function dataAt(place: DataPlace, mayMigrate = false) {
  return place.kind === "file"
    ? { dataFile: place.dataFile, database: null }
    : { dataFile: showDatabase(place.url), database: { url: place.url, mayMigrate } };
}

export function existingData(place: DataPlace) {
  if (place.kind === "file" && !existsSync(place.dataFile))
    throw new DataFileError("no_data_file", `there is no data file ${place.dataFile}`, {
      hint: `surveyctl serve --data ${place.dataFile} creates one; use --data or SURVEYCTL_DATA for another`,
      exit: EXIT.usage,
    });
  return dataAt(place);
}

export async function callConfirmed<Name extends OperationName>(
  deps: Deps,
  admin: Admin,
  call: { readonly kind: Name; readonly [field: string]: unknown },
  removal: Removal,
  compose: (confirm: Confirmation) => string | Promise<string> = ({ question }) => question,
): Promise<ResultOf<Name>> {
  const { UnconfirmedError } = await import("../../../../service/domain/errors.ts");
  let confirm: true | Confirmation | null = removal.yes ? true : null;
  for (;;)
    try {
      return await admin<Name>({ ...call, ...(confirm !== null && { confirm }) } as Parameters<typeof admin<Name>>[0]);
    } catch (error) {
      if (!(error instanceof UnconfirmedError)) throw error;
      const asked: Confirmation = error.confirm;
      await confirmRemoval(deps, removal, () => compose(asked));
      confirm = asked;
    }
}

/** Before a command changes the default data file, mentions the file, even with `--quiet`. */
export async function noteDataFile(deps: Deps, choice: DataFileChoice): Promise<DataFileChoice> {
  const place = await chooseServicePlace(deps, choice);
  if (place.kind === "database" || place.isNamed) return choice;
  await noteUnnamed(deps, place.dataFile);
  return { data: place.dataFile };
}

function noteUnnamed({ streams, options }: Deps, dataFile: string): Promise<void> {
  return writeNote({ streams, options: { ...options, quiet: false } }, `using ${dataFile}`);
}

/** Below this size, the work is too fast to need a note about how long it takes. */
const NOTED_BYTES = 200_000_000;

export async function noteDuration(deps: Deps, dataFile: string, verb: string, perSecond: number): Promise<void> {
  const { size } = statSync(dataFile);
  if (size < NOTED_BYTES) return;
  const seconds = Math.ceil(size / perSecond);
  await writeNote(deps, `${verb} ${formatCount(Math.round(size / 1e6))} MB takes about ${seconds} s`);
}

export function withoutDryRun(deps: Deps): Deps {
  return { ...deps, options: { ...deps.options, dryRun: false } };
}

export function rejectDryRun({ options }: Deps): void {
  if (options.dryRun) throw new UsageError("--dry-run: service commands send no requests that could be shown");
}

export function placeFlags(data?: string): FlagGroup<DataFileChoice> {
  return {
    records: dataPlace(data).records,
    read: (flags) => ({ data: readPlace(flags) }),
  };
}

export const PLACE = placeFlags();

export const PROJECT_DEFAULT = "default";

/** Has no default, because over HTTP the key determines the project. */
export const PROJECT = { value: "name", text: "project name", otherwise: PROJECT_DEFAULT } as const;

export const LOCAL_PROJECT = { value: "name", text: "project name", default: PROJECT_DEFAULT } as const;

export async function showRecord(deps: Deps, resource: Resource, value: object): Promise<void> {
  const text = JSON.stringify(value);
  await writeRecord(deps, resource, { json: JSON.parse(text) as JsonObject, text });
}

/** `wrap` wraps long text on a terminal instead of truncating it. `count` prints only the number of rows. */
export async function showList(
  deps: Deps,
  resource: Resource,
  values: readonly object[],
  { wrap = false, count = false }: { readonly wrap?: boolean; readonly count?: boolean } = {},
): Promise<void> {
  const output = await openListOutput(deps, { resource, wrap, count });
  await output.write(toRows(values));
  await output.end();
}

interface ListPage {
  readonly rows: readonly object[];
  readonly next: string | null;
}

interface PagedList extends DataFileChoice {
  readonly project: string | null;
  readonly resource: Resource;
  readonly limits: ListLimits;
  readonly call: { readonly kind: OperationName; readonly [field: string]: unknown };
}

/** Maximum rows that operations return at once. */
const PAGE = 500;

export async function showPages(deps: Deps, list: PagedList): Promise<void> {
  await withPager(deps.streams, deps.env, (streams) => writePages({ ...deps, streams }, list));
}

async function writePages(deps: Deps, { resource, limits, call, project, data }: PagedList): Promise<void> {
  const output = await openListOutput(deps, { resource, wrap: limits.wrap, count: limits.count });
  const perPage = limits.perPage ?? PAGE;
  const next = await withAdmin(deps, { data }, project, async (admin) => {
    let left = limits.limit ?? Infinity;
    let after: string | null = null;
    do {
      const paged = { ...call, after, limit: Math.min(left, perPage) };
      const page = (await admin(paged as Parameters<Admin>[0])) as ListPage;
      await output.write(toRows(page.rows));
      left -= page.rows.length;
      after = page.next;
    } while (after !== null && left > 0);
    return after;
  });
  await output.end();
  if (next !== null)
    await writeDone(deps, `Showing ${countOf(limits.limit ?? 0, "row")}; use --limit N or --all for more`);
}

function toRows(values: readonly object[]): RowPage {
  const text = JSON.stringify(values);
  return { rows: JSON.parse(text) as Json as JsonObject[], text };
}
