/** What the five exports differ in, as data, and the flags that they share. */
import type { Client } from "../../client/client.ts";
import type { CursorList, PageList, Range, RowKeys } from "../../bulk/export/lists.ts";
import type { VersionKeys } from "../../bulk/export/versions.ts";
import type { JsonObject } from "../../contract/json.ts";
import type { Column, Resource } from "../render/columns.ts";

export interface ExportFlags {
  /** Null or `-`: stdout. */
  readonly out: string | null;
  readonly gzip: boolean;
  readonly append: boolean;
  readonly state: string | null;
  readonly flatten: boolean;
  readonly checksum: boolean;
  /** 1 to 100; null is 100. */
  readonly perPage: number | null;
}

/** Options of an export that is filtered by one time alone. */
export interface RangeExportOptions {
  readonly flags: ExportFlags;
  /** Unix seconds, inclusive; null is open. */
  readonly since: number | null;
  readonly until: number | null;
  /** The filters as the user wrote them. */
  readonly filterText: string;
}

/** A list that an export can read: all of it, or with the rows' own clock in place of the creation time. */
export interface ExportSource {
  readonly list: (client: Client, perPage: number) => PageList | CursorList;
  readonly keys: RowKeys;
  /** What the user asked for, of the time that `list` filters by. */
  readonly range: Range;
}

/** Rows that bear no time of change, and where they are listed. */
export interface UnstampedRows {
  readonly source: ExportSource;
  readonly has: (row: JsonObject) => boolean;
}

/** Columns that `--flatten` adds. */
export interface FlatColumns {
  /** Names of what a row holds, each once, in order. */
  readonly find: (row: JsonObject) => readonly string[];
  readonly column: (name: string) => Column;
}

export interface ExportRequest {
  /** As typed: `responses export`. */
  readonly command: string;
  readonly resource: Resource;
  readonly source: ExportSource;
  /** The filters as the user wrote them, for the state; empty when there are none. */
  readonly filterText: string;
  /** Null: the list has no time to go on from, so there is no `--state`. */
  readonly incremental: {
    /** What later runs read: everything that became what it is at or after a time. */
    readonly source: (since: number) => ExportSource;
    /** New rows that a service may leave out there; null when every row bears its time. */
    readonly unstamped: ((since: number) => UnstampedRows | null) | null;
    readonly versions: VersionKeys;
    /** How far a run may come when the service's clock says `now`, Unix seconds. */
    readonly watermark: (now: number) => number;
  } | null;
  /** The service's own count of the rows of a range; null when it has none for these filters. */
  readonly count:
    | ((
        client: Client,
        range: { readonly since: number; readonly until: number },
        signal: AbortSignal,
      ) => Promise<number | null>)
    | null;
  readonly flat: FlatColumns | null;
}
