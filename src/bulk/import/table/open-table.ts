/** A file whose header is understood: its records, judged, as often as they are asked for. */
import { stat } from "node:fs/promises";
import { mapHeader, type HeaderOptions, type Mapping } from "./header.ts";
import { InputError } from "./input-error.ts";
import { createJudge, type Judge, type JudgeOptions, type Reading, type Verdict } from "../check/judge.ts";
import type { InputRecord } from "./record-parser.ts";
import { readRecords, type InputFile } from "./records.ts";
import type { RowKind } from "../check/row-kind.ts";

export interface JudgedRecord {
  readonly record: InputRecord;
  readonly verdict: Verdict;
}

export interface ImportTable {
  readonly input: InputFile;
  readonly kind: RowKind;
  readonly mapping: Mapping;
  readonly headers: readonly string[];
  /** About how many records lie below the header, judged by the first ones and the size of the file. */
  readonly expectedRows: number;
  /** Every record below the header, in batches. */
  records(): AsyncGenerator<readonly InputRecord[]>;
  /** What the fields of one record say, or what is wrong with it. */
  read(record: InputRecord): Reading;
  /** Every record with the row it becomes, in batches; a row is made when it is asked for. */
  judged(): AsyncGenerator<Iterable<JudgedRecord>>;
  /** Lets the file go where no record was asked for. */
  close(): Promise<void>;
}

export interface TableOptions extends Omit<JudgeOptions, "columns"> {
  readonly header: HeaderOptions;
}

/** Reads the header alone. Throws InputError. */
export async function openTable(input: InputFile, options: TableOptions): Promise<ImportTable> {
  const opening = await beginReading(input);
  try {
    return await createTable(input, options, opening);
  } catch (error) {
    await opening.batches.return(undefined);
    throw error;
  }
}

async function createTable(input: InputFile, options: TableOptions, opening: Begun): Promise<ImportTable> {
  const { header, rest } = opening;
  checkLineEnds(input, header);
  const mapping = mapHeader(header.fields, options.kind, `${input.name}:${header.line}`, options.header);
  const judge = createJudge({ ...options, columns: mapping.columns });
  // What found the header goes on with the first pass over the file: V8 runs a second parser a tenth slower.
  let waiting: Begun | null = opening;
  const records = (): AsyncGenerator<readonly InputRecord[]> => {
    const begun = waiting ?? beginReading(input);
    waiting = null;
    return goOn(begun);
  };
  return {
    input,
    kind: options.kind,
    mapping,
    headers: header.fields,
    expectedRows: await expectRows(input, [header, ...rest]),
    records,
    read: (record) => judge.read(record),
    async *judged() {
      for await (const batch of records()) yield judgeEach(judge, batch);
    },
    close: async () => void (await waiting?.batches.return(undefined)),
  };
}

function* judgeEach(judge: Judge, batch: readonly InputRecord[]): Generator<JudgedRecord> {
  for (const record of batch) yield { record, verdict: judge.judge(record) };
}

/** A file that was read as far as its header. */
interface Begun {
  readonly header: InputRecord;
  /** What was read with the header. */
  readonly rest: readonly InputRecord[];
  readonly batches: AsyncGenerator<readonly InputRecord[]>;
}

async function beginReading(input: InputFile): Promise<Begun> {
  const batches = readRecords(input);
  for (let next = await batches.next(); next.done !== true; next = await batches.next()) {
    const [header, ...rest] = next.value;
    if (header !== undefined) return { header, rest, batches };
  }
  throw new InputError(`${input.name} is empty; the first line must name the columns`);
}

async function* goOn(begun: Begun | Promise<Begun>): AsyncGenerator<readonly InputRecord[]> {
  const { rest, batches } = await begun;
  yield rest;
  yield* batches;
}

function checkLineEnds(input: InputFile, header: InputRecord): void {
  if (!header.fields.some((field) => /\r(?!\n)/.test(field))) return;
  throw new InputError(`${input.name}:1: the lines end in a lone carriage return; \\n or \\r\\n is needed`, {
    hint: "convert it: tr '\\r' '\\n' < old.csv > new.csv",
  });
}

async function expectRows(input: InputFile, batch: readonly InputRecord[]): Promise<number> {
  const characters = batch.reduce(
    (sum, { fields }) => sum + fields.reduce((length, field) => length + field.length + 1, 0),
    0,
  );
  const { size } = await stat(input.path);
  return Math.ceil((size / Math.max(1, characters)) * batch.length);
}
