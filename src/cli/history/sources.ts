import type { Stats } from "node:fs";
import { open, readdir, realpath, stat } from "node:fs/promises";
import path from "node:path";
import { unzipped } from "../../bulk/import/table/gzip.ts";
import { type InputFile, InputChangedError, InputError, openInputFile } from "../../bulk/import/table/input-file.ts";
import { type JsonRecord, looksLikeJson, readJsonRecords } from "../../bulk/import/table/json-records.ts";
import { cleanHeader } from "../../bulk/import/table/header.ts";
import { findExtraCells, type InputRecord, isEmptyRow } from "../../bulk/import/table/record-parser.ts";
import { readTable } from "../../bulk/import/table/records.ts";
import type { JsonObject } from "../../contract/json.ts";
import type { Deps } from "../kit/deps.ts";
import { UsageError } from "../errors/usage-error.ts";
import { isReadOnce, openInput } from "../importing/input-source.ts";

const ENDINGS = /\.(?:csv|tsv|json|ndjson|jsonl)(?:\.gz)?$/i;

export type HistoryRecord = Pick<JsonRecord, "line" | "size" | "value" | "problem">;

/** An input file that is read more than once, so its content must not change in between. */
export interface HistorySource {
  readonly name: string;
  read(): AsyncGenerator<readonly HistoryRecord[]>;
  close(): Promise<void>;
}

/**
 * Finds files, including those in folders, sorted by name. `-` is standard input, which is copied to disk. Follows
 * symbolic links but reads each file once. Throws UsageError, or the system's error.
 */
export async function findSources(deps: Deps, paths: readonly string[]): Promise<readonly HistorySource[]> {
  const names = new Map<string, string>();
  for (const name of (await Promise.all(paths.map(filesBelow))).flat()) {
    const place = (await isReadOnce(name)) ? name : await realpath(name);
    if (!names.has(place)) names.set(place, name);
  }
  const sources: HistorySource[] = [];
  try {
    for (const name of names.values())
      sources.push((await isReadOnce(name)) ? toSource(await openInput(deps, name)) : createSource(name));
  } catch (error) {
    for (const source of sources) await source.close();
    throw error;
  }
  return sources;
}

async function filesBelow(name: string): Promise<readonly string[]> {
  if (await isReadOnce(name)) return [name];
  if (!(await stat(name)).isDirectory()) return [name];
  const files = await filesIn(name, new Set());
  if (files.length === 0)
    throw new UsageError(`${name} contains no .csv, .tsv, .json, .ndjson or .jsonl file, plain or .gz`);
  return files;
}

/**
 * Files come before subfolders, because a Kubernetes volume shows each file as a link next to its folder. `entered`
 * contains the real paths of visited folders, so that links can't loop.
 */
async function filesIn(folder: string, entered: Set<string>): Promise<readonly string[]> {
  const place = await realpath(folder);
  if (entered.has(place)) return [];
  entered.add(place);
  const entries = (await readdir(folder, { withFileTypes: true })).toSorted((one, other) =>
    one.name < other.name ? -1 : 1,
  );
  const [files, folders]: [string[], string[]] = [[], []];
  for (const entry of entries) {
    const name = path.join(folder, entry.name);
    const isWanted = ENDINGS.test(entry.name);
    const found = entry.isSymbolicLink() ? await follow(name, isWanted) : entry;
    if (found?.isDirectory() === true) folders.push(name);
    else if (found?.isFile() === true && isWanted) files.push(name);
  }
  for (const name of folders) files.push(...(await filesIn(name, entered)));
  return files;
}

/** Null for a broken link. Throws UsageError instead if `isWanted`, so that a missing data file isn't ignored. */
async function follow(link: string, isWanted: boolean): Promise<Stats | null> {
  try {
    return await stat(link);
  } catch (error) {
    if (!isWanted) return null;
    throw new UsageError(`${link} is a symbolic link to a file that cannot be read`, { cause: error });
  }
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
        yield* readRows(input);
      } finally {
        await input.close();
      }
    },
    close: async () => undefined,
  };
}

function toSource(input: InputFile): HistorySource {
  return { name: input.name, read: () => readRows(input), close: () => input.close() };
}

async function* readRows(input: InputFile): AsyncGenerator<readonly HistoryRecord[]> {
  const plain = await unzipped(input);
  const head = await firstBytes(plain);
  if (head.byteLength > 0) yield* looksLikeJson(head) ? readJsonRecords(plain) : readTableRows(plain);
}

async function firstBytes(input: InputFile): Promise<Uint8Array> {
  for await (const bytes of input.bytes()) return bytes;
  return new Uint8Array();
}

async function* readTableRows(input: InputFile): AsyncGenerator<readonly HistoryRecord[]> {
  for await (const { header, rows } of readTable(input)) {
    rejectDuplicateColumns(input, header);
    const names = header.fields.map(cleanHeader);
    yield rows.filter((row) => !isEmptyRow(row)).map((row) => toRecord(row, names));
  }
}

function rejectDuplicateColumns({ name }: InputFile, { line, fields }: InputRecord): void {
  const names = fields.map((field) => cleanHeader(field).toLowerCase());
  const seen = new Set<string>();
  const twin = names.findIndex((each) => each !== "" && seen.size === seen.add(each).size);
  if (twin === -1) return;
  throw new InputError(`${name}:${line}: two columns are called "${cleanHeader(fields[twin] ?? "")}"`, {
    hint: "give one of them another name",
  });
}

function toRecord(record: InputRecord, names: readonly string[]): HistoryRecord {
  const { line, fields } = record;
  const value: JsonObject = {};
  let size = 0;
  for (const [at, name] of names.entries()) {
    const cell = fields[at] ?? "";
    size += cell.length;
    if (name !== "") value[name] = cell;
  }
  const problem = record.problem ?? findExtraCells(record, names.length);
  return { line, size, value, ...(problem !== null && { problem }) };
}
