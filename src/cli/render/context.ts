import type { RowPage } from "../../contract/row-page.ts";
import type { Clock } from "../../runtime/clock.ts";
import type { GlobalOptions } from "../args/global-options.ts";
import type { Streams } from "../streams/streams.ts";

export interface RenderContext {
  readonly streams: Streams;
  readonly clock: Clock;
  readonly options: Pick<
    GlobalOptions,
    "output" | "excel" | "columns" | "time" | "timeZone" | "quiet" | "verbosity" | "color" | "unicode"
  >;
}

export interface ListOutput {
  /** `mayGrow` on the first page: later rows may bring columns. */
  write(page: RowPage, mayGrow?: boolean): Promise<void>;
  /** Writes the end of an array, or the note about an empty table. */
  end(): Promise<void>;
}
