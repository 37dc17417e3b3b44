/** A file whose header is understood: its records, judged, as often as they are asked for. */
import { stat } from "node:fs/promises";
import { mapHeader, type HeaderOptions, type Mapping } from "./header.ts";
import { InputError } from "./input-error.ts";
import { createJudge, type Judge, type JudgeOptions, type Reading, type Verdict } from "./judge.ts";
import type { InputRecord } from "./record-parser.ts";
import { readRecords, type InputFile } from "./records.ts";
import type { RowKind } from "./row-kind.ts";

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
}

export interface TableOptions extends Omit<JudgeOptions, "columns"> {
  readonly header: HeaderOptions;
}

/** Reads the header alone. Throws InputError. */
export async function openTable(input: InputFile, options: TableOptions): Promise<ImportTable> {
  const { header, expectedRows } = await readHeader(input);
  const mapping = mapHeader(header.fields, options.kind, `${input.name}:${header.line}`, options.header);
  const judge = createJudge({ ...options, columns: mapping.columns });
  const records = (): AsyncGenerator<readonly InputRecord[]> => withoutHeader(readRecords(input));
  return {
    input,
    kind: options.kind,
    mapping,
    headers: header.fields,
    expectedRows,
    records,
    read: (record) => judge.read(record),
    async *judged() {
      for await (const batch of records()) yield judgeEach(judge, batch);
    },
  };
}

function* judgeEach(judge: Judge, batch: readonly InputRecord[]): Generator<JudgedRecord> {
  for (const record of batch) yield { record, verdict: judge.judge(record) };
}

async function* withoutHeader(batches: AsyncIterable<readonly InputRecord[]>): AsyncGenerator<readonly InputRecord[]> {
  let skip = 1;
  for await (const batch of batches) {
    yield skip === 0 ? batch : batch.slice(skip);
    skip = batch.length > 0 ? 0 : skip;
  }
}

interface Header {
  readonly header: InputRecord;
  readonly expectedRows: number;
}

async function readHeader(input: InputFile): Promise<Header> {
  for await (const batch of readRecords(input)) {
    const [header] = batch;
    if (header === undefined) continue;
    checkLineEnds(input, header);
    return { header, expectedRows: await expectRows(input, batch) };
  }
  throw new InputError(`${input.name} is empty; the first line must name the columns`);
}

function checkLineEnds(input: InputFile, header: InputRecord): void {
  if (!header.fields.some((field) => /\r(?!\n)/.test(field))) return;
  throw new InputError(`${input.name}:1: the lines end in a lone carriage return; \\n or \\r\\n is needed`, {
    hint: `convert it: tr '\\r' '\\n' < ${input.name} > fixed.csv`,
  });
}

async function expectRows(input: InputFile, batch: readonly InputRecord[]): Promise<number> {
  const characters = batch.reduce((sum, { fields }) => sum + fields.reduce((length, field) => length + field.length + 1, 0), 0);
  const { size } = await stat(input.path);
  return Math.ceil((size / Math.max(1, characters)) * batch.length);
}
