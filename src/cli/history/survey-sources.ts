/** The first pass over saved files, which counts every row but stores nothing. */
import { InputError } from "../../bulk/import/table/input-file.ts";
import type { HistoryField, HistoryTarget, ShapeChoice } from "../../service/history/columns.ts";
import {
  type ConvertOptions,
  createConverter,
  type LostPart,
  type PastRow,
  PastRowError,
} from "../../service/history/convert-rows.ts";
import { createResponseParts, type ResponseParts } from "../../service/history/response-parts.ts";
import { type HistoryShape, type NoShape, recognizeRows } from "../../service/history/shape.ts";
import { countHistory, type HistoryTally, type TemporaryDatabase } from "../../service/history/tally.ts";
import { UsageError } from "../errors/usage-error.ts";
import type { HistoryRecord, HistorySource } from "./sources.ts";

export interface HistoryReading extends ShapeChoice {
  /** Null drops unknown columns and reports them. */
  readonly unknown: "properties" | "ignore" | null;
  readonly zone: string | null;
  readonly now: number;
  readonly signal: AbortSignal;
}

export interface HistoryProblem {
  readonly file: string;
  readonly line: number;
  readonly stream: string;
  readonly outcome: "refused" | "conflict";
  readonly reason: string;
}

export interface SurveyedSource {
  readonly source: HistorySource;
  readonly shape: HistoryShape | null;
  readonly columns: ReadonlyMap<string, HistoryTarget>;
  readonly firstOrdinal: number;
  readonly dropped: ReadonlyMap<string, number>;
  readonly otherKinds: ReadonlyMap<string, number>;
}

export interface HistorySurvey {
  readonly sources: readonly SurveyedSource[];
  readonly tally: HistoryTally;
  readonly parts: ResponseParts;
  readonly lost: ReadonlyMap<LostPart, number>;
  readonly rows: number;
}

export async function surveySources(
  sources: readonly HistorySource[],
  reading: HistoryReading,
  hooks: {
    readonly database: TemporaryDatabase;
    readonly onProblem: (problem: HistoryProblem) => void;
    readonly onRows: (rows: number) => Promise<void>;
  },
): Promise<HistorySurvey> {
  const [count, parts] = [countHistory(reading.zone, hooks.database), createResponseParts(reading.zone)];
  const lost = new Map<LostPart, number>();
  const surveyed: SurveyedSource[] = [];
  let ordinal = 0;
  for (const source of sources) {
    const firstOrdinal = ordinal;
    const columns = new Map<string, HistoryTarget>();
    const dropped = new Map<string, number>();
    const otherKinds = new Map<string, number>();
    const opened = await openRows(source, reading, {
      onColumn: (column, target) => {
        columns.set(column, target);
        refuseWidth(source, columns.size);
      },
      onLost: (column) => countOne(dropped, column),
      onOtherKind: (kind) => countOne(otherKinds, kind),
    });
    for await (const batch of opened.rows) {
      for (const { line, row, stream, problem } of batch) {
        const reason =
          problem ?? (row !== null && "fields" in row ? problemOf(() => parts.add(row.stream, row.fields)) : null);
        if (reason === null && row !== null) {
          count.add(row, ordinal);
          if ("lost" in row) for (const part of row.lost) countOne(lost, part);
        } else if (reason !== null) {
          count.refuse(stream);
          hooks.onProblem({ file: source.name, line, stream, outcome: "refused", reason });
        }
        ordinal += 1;
      }
      reading.signal.throwIfAborted();
      await hooks.onRows(ordinal);
    }
    surveyed.push({ source, shape: opened.shape, columns, firstOrdinal, dropped, otherKinds });
  }
  return { sources: surveyed, tally: count.finish(), parts, lost, rows: ordinal };
}

function countOne<Key>(counts: Map<Key, number>, key: Key): void {
  counts.set(key, (counts.get(key) ?? 0) + 1);
}

/** More columns than any data warehouse allows. A limit is needed because each column is examined several times. */
const COLUMNS_MAX = 2000;

function refuseWidth({ name }: HistorySource, columns: number): void {
  if (columns <= COLUMNS_MAX) return;
  throw new InputError(`${name}: more than ${COLUMNS_MAX} columns`, {
    hint: "remove columns that are not needed; properties may stay together in person_properties, as a JSON object",
  });
}

interface ReadRow {
  readonly line: number;
  readonly size: number;
  readonly row: PastRow | null;
  readonly stream: PastRow["stream"];
  readonly problem: string | null;
}

const LOOKED_AT = 50;

export async function openRows(
  source: HistorySource,
  reading: HistoryReading,
  hooks: Pick<ConvertOptions, "onColumn" | "onLost" | "onOtherKind">,
): Promise<{ readonly shape: HistoryShape | null; readonly rows: AsyncIterable<readonly ReadRow[]> | readonly [] }> {
  const batches = source.read();
  for (let next = await batches.next(); next.done !== true; next = await batches.next()) {
    const first = next.value;
    if (first.length === 0) continue;
    let shape: HistoryShape;
    try {
      shape = shapeOf(source, first, reading);
    } catch (error) {
      // A suspended generator keeps its file open.
      await batches.return(undefined);
      throw error;
    }
    const convert = createConverter(shape, { ...reading, unknown: reading.unknown ?? "ignore", ...hooks });
    return { shape, rows: convertAll(first, batches, convert, shape.stream ?? "responses") };
  }
  return { shape: null, rows: [] };
}

function shapeOf(source: HistorySource, records: readonly HistoryRecord[], reading: HistoryReading): HistoryShape {
  const rows = records.slice(0, LOOKED_AT).map(({ value }) => value);
  const columns = [...new Set(rows.flatMap(Object.keys))];
  refuseWidth(source, columns.length);
  const shape = recognizeRows(rows, reading);
  if (!("nearest" in shape)) return shape;
  throw unknownShape(source.name, columns, shape);
}

const COLUMNS_SHOWN = 12;

function unknownShape(name: string, columns: readonly string[], { nearest, format, missing }: NoShape): UsageError {
  const more = columns.length > COLUMNS_SHOWN ? `, … (${columns.length} in all)` : "";
  const found = `${columns.slice(0, COLUMNS_SHOWN).join(", ")}${more}`;
  const wanted = missing.map((names: readonly HistoryField[]) => names.join(" or ")).join(", and ");
  const [field = "created_at"] = missing[0] ?? [];
  return new UsageError(
    `${name}: not a known shape (columns: ${found}); nearest: ${format} ${nearest}, which ${wanted === "" ? "is ambiguous" : `needs ${wanted}`}`,
    { hint: `map columns with --map "Header=${field}", or name the shape with --format and --stream` },
  );
}

async function* convertAll(
  first: readonly HistoryRecord[],
  batches: AsyncGenerator<readonly HistoryRecord[]>,
  convert: ReturnType<typeof createConverter>,
  stream: PastRow["stream"],
): AsyncGenerator<readonly ReadRow[]> {
  const toRow = ({ line, size, value, problem }: HistoryRecord): ReadRow => {
    if (problem !== undefined) return { line, size, row: null, stream, problem };
    const found = convert(value);
    return { line, size, row: found?.row ?? null, stream: found?.stream ?? stream, problem: found?.problem ?? null };
  };
  try {
    yield first.map(toRow);
    for await (const batch of batches) yield batch.map(toRow);
  } finally {
    await batches.return(undefined);
  }
}

function problemOf(work: () => void): string | null {
  try {
    work();
    return null;
  } catch (error) {
    if (error instanceof PastRowError) return error.message;
    throw error;
  }
}
