import type { CallOptions, Client, Page, Parameters } from "../../../client/client.ts";
import { PER_PAGE_MAX } from "../../../contract/limits.ts";
import { isJsonObject, type JsonObject } from "../../../contract/json.ts";
import { keepRows } from "../../../contract/row-page.ts";
import type { FlagRecord } from "../../args/flag-record.ts";
import type { Flags } from "../../args/flags.ts";
import { suggest } from "../../args/suggest.ts";
import { parseCount, parsePageSize } from "../../args/values.ts";
import { type Deps, withClient } from "../deps.ts";
import { flagGroup, type GroupValue } from "../flag-spec.ts";
import { EXIT, type ExitCode } from "../../exit-codes.ts";
import { type Resource, selectColumns } from "../../render/columns.ts";
import { toSafeText } from "../../render/safe-text.ts";
import { openGrowingOutput } from "../../render/list-output.ts";
import { withPager } from "../../streams/paging.ts";
import { countOf, formatCount } from "../../../contract/text/whole-number.ts";
import { writeDone, writeNote } from "../notes.ts";
import { nullIfFailed } from "../refusals.ts";

const LIMIT_DEFAULT = 50;

export const WRAP_FLAG = { flag: "--wrap", text: "wrap wide text in tables instead of cutting it" } as const;
export const COUNT_FLAG: FlagRecord = { flag: "--count", text: "print only the number of rows" };

const LIST_FLAGS = flagGroup({
  limit: {
    short: "-L",
    value: "n",
    text: "maximum number of rows",
    otherwise: `${LIMIT_DEFAULT}`,
    conflicts: ["--all", "--count"],
    parse: parseCount,
  },
  all: { text: "all rows" },
  count: COUNT_FLAG,
  wrap: WRAP_FLAG,
  perPage: {
    value: "n",
    text: `page size, 1 to ${PER_PAGE_MAX}`,
    otherwise: `${PER_PAGE_MAX}, or the limit if that is lower`,
    parse: parsePageSize,
  },
});

export const LIMITS = {
  records: LIST_FLAGS.records,
  read: async (flags: Flags, deps: Deps) => {
    const { limit, all, ...others } = await LIST_FLAGS.read(flags, deps);
    return { ...others, limit: all || others.count ? null : (limit ?? LIMIT_DEFAULT) };
  },
};

export type ListLimits = GroupValue<typeof LIMITS>;

export interface ListRequest {
  readonly resource: Resource;
  readonly limits: ListLimits;
  readonly parameters: Parameters;
  readonly pages: (client: Client, parameters: Parameters, options: CallOptions) => AsyncGenerator<Page>;
  /** True if rows are also filtered on the client, so that a page can have few rows or none. */
  readonly isNarrowed?: boolean;
  readonly first?: "oldest" | "newest";
  readonly count?: RowCount;
}

interface RowCount {
  readonly noun: string;
  /** Counts the matching rows with one cheap request. */
  readonly ask: (client: Client, options: CallOptions) => Promise<number | null>;
  readonly isCounted: (row: JsonObject) => boolean;
}

export async function listRows(deps: Deps, request: ListRequest): Promise<ExitCode> {
  return withPager(deps.streams, deps.env, (streams) => writeRows({ ...deps, streams }, request));
}

async function writeRows(deps: Deps, request: ListRequest): Promise<ExitCode> {
  const { resource, limits, parameters, pages } = request;
  const output = await openGrowingOutput(deps, { resource, wrap: limits.wrap, count: limits.count });
  const most = request.isNarrowed === true ? PER_PAGE_MAX : (limits.limit ?? PER_PAGE_MAX);
  const perPage = limits.perPage ?? Math.min(PER_PAGE_MAX, most);
  return withClient(deps, async (client) => {
    const walk = pages(client, { ...parameters, per_page: perPage }, { signal: deps.signal });
    let left = limits.limit ?? Infinity;
    let allCounted = true;
    const paths = watchPaths(deps, resource);
    for (let step = await walk.next(); step.done !== true; step = await walk.next()) {
      const page = step.value;
      await output.write(
        keepRows(page, (_, index) => index < left),
        page.hasAnswers,
      );
      paths.look(page.rows);
      allCounted &&= page.rows.every((row) => request.count?.isCounted(row) ?? true);
      left -= page.rows.length;
      if (left > 0) continue;
      await output.end();
      await paths.writeNotes();
      // Some services return fewer rows than requested, so there can be more even after a short page.
      if (!deps.options.quiet) await noteMore(deps, request, client, { walk, page, isCut: left < 0, allCounted });
      await walk.return(undefined);
      return EXIT.done;
    }
    await output.end();
    await paths.writeNotes();
    return EXIT.done;
  });
}

/** Dotted paths in `--columns` that no row has are probably typos. */
function watchPaths(deps: Deps, resource: Resource) {
  let lacking = selectColumns(resource, deps.options.columns ?? []).filter(({ name }) => name.includes("."));
  const known = new Set<string>();
  let isEmpty = true;
  return {
    look(rows: readonly JsonObject[]): void {
      isEmpty &&= rows.length === 0;
      lacking = lacking.filter(({ read }) => rows.every((row) => read(row) === undefined));
      if (lacking.length === 0) return;
      for (const [field, value] of rows.flatMap(Object.entries))
        if (isJsonObject(value)) for (const name of Object.keys(value)) known.add(`${field}.${name}`);
    },
    async writeNotes(): Promise<void> {
      if (isEmpty) return;
      for (const { name } of lacking) {
        const nearest = suggest(name, [...known]);
        const hint = nearest === null ? "" : `; did you mean ${toSafeText(nearest)}?`;
        await writeNote(deps, `none of these ${resource.noun} has ${toSafeText(name)}${hint}`);
      }
    },
  };
}

interface Stop {
  readonly walk: AsyncGenerator<Page>;
  readonly page: Page;
  readonly isCut: boolean;
  readonly allCounted: boolean;
}

/** The note is optional, so a failing request doesn't fail the list. */
async function noteMore(deps: Deps, request: ListRequest, client: Client, stop: Stop): Promise<void> {
  const shown = request.limits.limit ?? 0;
  if (request.isNarrowed === true && !stop.isCut) return noteLater(deps, shown, stop);
  const total = stop.allCounted ? await nullIfFailed(request.count?.ask(client, { signal: deps.signal })) : null;
  // The count can exclude some rows, so a count that isn't larger doesn't mean that the list is complete.
  const more = stop.isCut || (total ?? 0) > shown || (await nullIfFailed(hasMore(stop)));
  if (more === true) await writeDone(deps, describeShown(request, shown, total));
}

/** The filtered next page can be empty even if a later page has matching rows. */
async function noteLater(deps: Deps, shown: number, { walk }: Stop): Promise<void> {
  const following = await nullIfFailed(walk.next());
  if (following === null || following.done === true) return;
  const more = following.value.rows.length > 0 ? "use" : "more may match:";
  await writeDone(deps, `Showing ${countOf(shown, "row")}; ${more} --limit N or --all for more`);
}

/** A full page of a numbered list can be the last one, so this requests the next page to find out. */
async function hasMore({ walk, page }: Stop): Promise<boolean> {
  if (page.next !== null) return true;
  const following = await walk.next();
  return following.done !== true && following.value.rows.length > 0;
}

function describeShown({ count, first }: ListRequest, shown: number, total: number | null): string {
  const advice = "use --limit N or --all for more";
  if (count === undefined || total === null || total <= shown) return `Showing ${countOf(shown, "row")}; ${advice}`;
  const all = `of ${formatCount(total)} ${count.noun}`;
  if (first === undefined) return `Showing ${formatCount(shown)} ${all}; ${advice}`;
  const which = shown === 1 ? first : `${formatCount(shown)} ${first}`;
  return `Showing the ${which} ${all}; ${first === "oldest" ? "--newest shows the newest first" : advice}`;
}
