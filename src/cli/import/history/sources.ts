/** The files of saved history, each read as objects with the line on which they begin. */
import { open, readdir, stat } from "node:fs/promises";
import path from "node:path";
import { type InputFile, InputChangedError, openInputFile } from "../../../bulk/import/table/input-file.ts";
import { looksLikeJson, readJsonRecords } from "../../../bulk/import/table/json-records.ts";
import type { InputRecord } from "../../../bulk/import/table/record-parser.ts";
import { readRecords } from "../../../bulk/import/table/records.ts";
import type { JsonObject } from "../../../contract/json.ts";
import { UsageError } from "../../errors/usage-error.ts";

/** Looked for in folders. */
const ENDINGS = /\.(?:csv|tsv|json|ndjson|jsonl)$/i;

export interface HistoryRecord {
  readonly line: number;
  /** Bytes or characters of its text. */
  readonly size: number;
  readonly value: JsonObject;
  /** What is wrong with it as a row of its table; null for nothing. */
  readonly problem: string | null;
}

/** A file that is read more than once, and must be the same each time. */
export interface HistorySource {
  readonly name: string;
  /** Throws InputError, InputChangedError, or the system's error. */
  read(): AsyncGenerator<readonly HistoryRecord[]>;
}

/** Files as they are named, and those in folders below them, in the order of their names. Throws UsageError. */
export async function findSources(paths: readonly string[]): Promise<readonly HistorySource[]> {
  const files = (await Promise.all(paths.map(filesBelow))).flat();
  return [...new Set(files)].map(createSource);
}

async function filesBelow(name: string): Promise<string[]> {
  const found = await stat(name);
  if (!found.isDirectory()) return [name];
  const below = await readdir(name, { recursive: true, withFileTypes: true });
  const files = below
    .filter((entry) => entry.isFile() && ENDINGS.test(entry.name))
    .map((entry) => path.join(entry.parentPath, entry.name));
  if (files.length === 0) throw new UsageError(`${name} contains no .csv, .tsv, .json, .ndjson or .jsonl file`);
  return files.toSorted();
}

function createSource(name: string): HistorySource {
  let state: string | null = null;
  return {
    name,
    async *read() {
      const handle = await open(name, "r");
      const { dev, ino, size, mtimeNs } = await handle.stat({ bigint: true });
      const now = [dev, ino, size, mtimeNs].join(" ");
      const input = await openInputFile(handle, { name, path: name, delimiter: null });
      try {
        if (state !== null && state !== now) throw new InputChangedError(name);
        state = now;
        if (size === 0n) return;
        yield* (await isJson(input)) ? readObjects(input) : readTable(input);
      } finally {
        await input.close();
      }
    },
  };
}

async function isJson(input: InputFile): Promise<boolean> {
  for await (const bytes of input.bytes()) return looksLikeJson(bytes);
  return false;
}

async function* readObjects(input: InputFile): AsyncGenerator<readonly HistoryRecord[]> {
  for await (const batch of readJsonRecords(input)) yield batch.map((record) => ({ ...record, problem: null }));
}

async function* readTable(input: InputFile): AsyncGenerator<readonly HistoryRecord[]> {
  let header: readonly string[] | null = null;
  for await (const batch of readRecords(input)) {
    const [first, ...rest] = batch;
    const rows: readonly InputRecord[] = header === null ? rest : batch;
    header ??= first?.fields ?? null;
    const names = header ?? [];
    yield rows.map((row) => toRecord(row, names));
  }
}

function toRecord({ line, fields }: InputRecord, names: readonly string[]): HistoryRecord {
  const value: JsonObject = {};
  let size = 0;
  for (const [at, name] of names.entries()) {
    const cell = fields[at] ?? "";
    size += cell.length;
    if (name !== "") value[name] = cell;
  }
  const problem =
    fields.length === names.length
      ? null
      : `expected ${names.length} fields, found ${fields.length}; check delimiters and quotes`;
  return { line, size, value, problem };
}
