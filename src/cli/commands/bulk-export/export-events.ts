/** What the exports of people, bounces and unsubscribes share: rows that have one time, which never changes. */
import type { Client } from "../../../client/client.ts";
import type { CursorList, PageList, Range } from "../../../bulk/export/lists.ts";
import type { Resource } from "../../render/columns.ts";
import type { ExportRequest, ExportSource } from "./export-request.ts";
import { keysOf } from "./export-sources.ts";

export interface TimedRows {
  readonly command: string;
  readonly resource: Resource;
  readonly idField: string;
  readonly timeField: string;
  readonly list: (client: Client, perPage: number) => PageList | CursorList;
  readonly range: Range;
  readonly filterText: string;
}

export function timedRowsRequest(rows: TimedRows): ExportRequest {
  const { command, resource, idField, timeField, list, range, filterText } = rows;
  const { id, at } = keysOf(idField, timeField);
  // Somebody who bounced twice has two rows.
  const source: ExportSource = { list, keys: { id: (row) => `${id(row)} ${at(row)}`, at }, range };
  return {
    command,
    resource,
    source,
    filterText,
    incremental: {
      source: (since) => ({ ...source, range: { since: Math.max(since, range.since ?? since), until: range.until } }),
      unstamped: null,
      versions: { id, at: (row) => at(row) ?? 0, content: () => "" },
      watermark: (now) => Math.min(now, range.until ?? now),
    },
    count: null,
    flat: null,
  };
}
