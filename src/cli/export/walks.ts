/** The lists that an export reads, each with its own snapshot. */
import type { ExportWalk } from "../../bulk/export/run-export.ts";
import { PER_PAGE_MAX } from "../../contract/limits.ts";
import { CONCURRENCY_DEFAULT } from "../args/global-options.ts";
import type { Count } from "./count.ts";
import type { Increment } from "./increment.ts";
import type { OpenedExport } from "./opened.ts";
import type { ExportSource } from "./request.ts";
import { createSnapshot, type Snapshot } from "./snapshot.ts";

export interface Walks {
  readonly walks: readonly ExportWalk[];
  /** The service's time when the run began, Unix seconds. */
  readonly startedAt: () => number;
}

interface Asking {
  readonly count: Count;
  /** Ends requests for what is only good to know. */
  readonly asked: AbortSignal;
}

export function createWalks(opened: OpenedExport, increment: Increment, asking: Asking): Walks {
  const { source, unstamped, keep } = increment;
  const snapshot = openSnapshot(opened, source, asking);
  if (unstamped === null)
    return { walks: [toWalk(opened, source, { ...asking, snapshot, keep })], startedAt: snapshot.startedAt };
  let isListed = false;
  const watch: ExportWalk["keep"] = (row) => {
    isListed ||= unstamped.has(row);
    return keep?.(row) ?? true;
  };
  const first = toWalk(opened, source, { ...asking, snapshot, keep: watch });
  const second = toWalk(opened, unstamped.source, {
    ...asking,
    snapshot: openSnapshot(opened, unstamped.source, asking),
    keep: (row) => unstamped.has(row) && (keep?.(row) ?? true),
  });
  // A service that lists one of them by its change lists all.
  return { walks: [first, { ...second, isWanted: () => !isListed }], startedAt: snapshot.startedAt };
}

interface WalkParts extends Asking, Pick<ExportWalk, "keep"> {
  readonly snapshot: Snapshot;
}

function toWalk(
  { deps, connection, flags }: OpenedExport,
  source: ExportSource,
  { snapshot, count, keep }: WalkParts,
): ExportWalk {
  const perPage = flags.perPage ?? PER_PAGE_MAX;
  return {
    list: source.list(connection.client, perPage),
    keys: source.keys,
    range: source.range,
    perPage,
    concurrency: deps.options.concurrency ?? CONCURRENCY_DEFAULT,
    async fixUntil(first, isWhole) {
      const until = await snapshot.fixUntil(first, isWhole);
      count.begin(first, until);
      return until;
    },
    signal: deps.signal,
    keep,
    isWanted: () => true,
  };
}

function openSnapshot(
  { deps, connection, flags }: OpenedExport,
  { list, keys, range }: ExportSource,
  { asked }: Asking,
): Snapshot {
  const perPage = flags.perPage ?? PER_PAGE_MAX;
  return createSnapshot({
    list: list(connection.client, perPage),
    keys,
    range,
    clock: deps.clock,
    signal: asked,
  });
}
