/** Responses by all filters at once, redacted where that is asked for. */
import type { Client } from "../../../../client/client.ts";
import { PER_PAGE_MAX } from "../../../../contract/limits.ts";
import type { RowPage } from "../../../../contract/row-page.ts";
import type { ToShown } from "../../../../insight/redact.ts";
import type { FlagRecord } from "../../../args/flag-record.ts";
import type { Flags } from "../../../args/flags.ts";
import type { Deps } from "../../../command/deps.ts";
import { createProgress } from "../../../command/progress.ts";
import { watchProperties } from "../../../command/rows/watch-properties.ts";
import { forPhone } from "./by-phone.ts";
import { createRedaction } from "./redaction.ts";
import { createPageFilter, readRowFilters, ROW_FLAGS, type RowFilters } from "./row-filters.ts";
import { FILTER_FLAGS, readFilters, type ResponseFilters, toFilterParameters } from "./service-filters.ts";

export interface Selection extends ResponseFilters {
  readonly rows: RowFilters;
  readonly redact: boolean;
}

export const SELECTION_FLAGS: readonly FlagRecord[] = [...FILTER_FLAGS, ...ROW_FLAGS];

export function readSelection(deps: Deps, flags: Flags): Selection {
  return { ...readFilters(deps, flags), rows: readRowFilters(flags), redact: flags.is("--redact") };
}

/** The same with a connection whose lists of responses are those that the options select from. */
export function forSelection(
  deps: Deps,
  { personPhone, rows }: Pick<Selection, "personPhone"> & { readonly rows?: RowFilters },
  segments: readonly string[] = [],
): Deps {
  return watchProperties(forPhone(deps, personPhone), "responses", { conditions: rows?.properties, segments });
}

export interface SelectionReader {
  /** Pages as they are to be shown; rows that do not fit are left out. */
  pages(client: Client): AsyncGenerator<RowPage>;
  writeNotes(): Promise<void>;
}

/** `toShown`: the part that redacted rows keep, if a command shows less than the row. */
export function openSelection(deps: Deps, selection: Selection, toShown?: ToShown): SelectionReader {
  const redaction = selection.redact ? createRedaction(deps, null, toShown) : null;
  const filterPage = createPageFilter(selection.rows);
  const progress = createProgress(deps, "responses");
  const { since, until } = selection;
  const parameters = { since, until, ...toFilterParameters(selection), per_page: PER_PAGE_MAX };
  const expand = redaction === null ? null : [...redaction.expand];
  return {
    async *pages(client) {
      let count = 0;
      try {
        for await (const page of client.listResponses({ ...parameters, expand }, { signal: deps.signal })) {
          count += page.rows.length;
          await progress.update(count);
          const wanted = filterPage === null ? page : filterPage(page);
          yield redaction === null ? wanted : redaction.page(wanted);
        }
      } finally {
        await progress.end();
      }
    },
    writeNotes: async () => redaction?.writeNotes(),
  };
}
