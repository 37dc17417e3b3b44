/** What every `list` does: pages from the client to stdout, up to a limit (design: "Output"). */
import type { CallOptions, Client, Page, Parameters } from "../../client/client.ts";
import { PER_PAGE_MAX } from "../../contract/limits.ts";
import { splitRowTexts } from "../../contract/row-texts.ts";
import type { Deps } from "./deps.ts";
import { EXIT, type ExitCode } from "../exit-codes.ts";
import type { Resource } from "../render/columns.ts";
import type { Rows } from "../render/encoders.ts";
import { openListOutput } from "../render/list-output.ts";
import { withPager } from "../streams/paging.ts";
import { writeNote } from "./notes.ts";
import { withClient } from "./with-client.ts";

export const LIMIT_DEFAULT = 50;

export interface ListLimits {
  /** Rows at most; null is all of them. */
  readonly limit: number | null;
  /** Rows a request; null is 100, or the limit where that is less. */
  readonly perPage: number | null;
}

export interface ListRequest {
  readonly resource: Resource;
  readonly limits: ListLimits;
  /** Filters; `per_page` is added here. */
  readonly parameters: Parameters;
  readonly pages: (client: Client, parameters: Parameters, options: CallOptions) => AsyncGenerator<Page>;
}

/** Through the pager where one is asked for. */
export async function listRows(deps: Deps, request: ListRequest): Promise<ExitCode> {
  return withPager(deps.streams, deps.env, (streams) => writeRows({ ...deps, streams }, request));
}

async function writeRows(deps: Deps, { resource, limits, parameters, pages }: ListRequest): Promise<ExitCode> {
  const output = await openListOutput(deps, { resource });
  const perPage = limits.perPage ?? Math.min(PER_PAGE_MAX, limits.limit ?? PER_PAGE_MAX);
  return withClient(deps, async (client) => {
    const walk = pages(client, { ...parameters, per_page: perPage }, { signal: deps.signal });
    let left = limits.limit ?? Infinity;
    for (let step = await walk.next(); step.done !== true; step = await walk.next()) {
      const page = step.value;
      await output.write(firstRows(page, left));
      left -= page.rows.length;
      if (left > 0) continue;
      await output.end();
      if (left < 0 || (await hasMore(deps, page, perPage, walk))) await noteMore(deps, limits.limit ?? 0);
      await walk.return(undefined);
      return EXIT.done;
    }
    await output.end();
    return EXIT.done;
  });
}

function firstRows(page: Page, count: number): Rows {
  if (page.rows.length <= count) return page;
  return { rows: page.rows.slice(0, count), text: `[${splitRowTexts(page.text).slice(0, count).join(",")}]` };
}

/**
 * Whether rows follow a page that just filled the limit. Cursor lists say so; of page-numbered lists a full page says
 * nothing, so the next one is asked for. Only a note hangs on it: a failure here is no failure of the list.
 */
async function hasMore({ options }: Deps, page: Page, perPage: number, walk: AsyncGenerator<Page>): Promise<boolean> {
  if (page.next !== null) return true;
  if (page.rows.length < perPage || options.quiet) return false;
  try {
    const following = await walk.next();
    return following.done !== true && following.value.rows.length > 0;
  } catch {
    return false;
  }
}

async function noteMore(deps: Deps, limit: number): Promise<void> {
  await writeNote(deps, `showing the first ${limit}, more exist; --limit N or --all shows them`);
}
