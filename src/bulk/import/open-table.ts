/** A file whose header is understood: its records, judged, as often as they are asked for. */
import { mapHeader, type HeaderOptions, type Mapping } from "./header.ts";
import { InputError } from "./input-error.ts";
import { createJudge, type JudgeOptions, type Verdict } from "./judge.ts";
import { readRecords, type InputFile, type InputRecord } from "./records.ts";
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
  /** Every record below the header, in batches. */
  judged(): AsyncGenerator<JudgedRecord[]>;
}

export interface TableOptions extends Omit<JudgeOptions, "columns"> {
  readonly header: HeaderOptions;
}

/** Reads the header alone. Throws InputError. */
export async function openTable(input: InputFile, options: TableOptions): Promise<ImportTable> {
  const header = await readHeader(input);
  const mapping = mapHeader(header.fields, options.kind, `${input.name}:${header.line}`, options.header);
  const judge = createJudge({ ...options, columns: mapping.columns });
  return {
    input,
    kind: options.kind,
    mapping,
    headers: header.fields,
    async *judged() {
      let skip = 1;
      for await (const batch of readRecords(input)) {
        yield batch.slice(skip).map((record) => ({ record, verdict: judge(record) }));
        skip = batch.length > 0 ? 0 : skip;
      }
    },
  };
}

async function readHeader(input: InputFile): Promise<InputRecord> {
  for await (const [first] of readRecords(input)) if (first !== undefined) return first;
  throw new InputError(`${input.name} is empty; the first line must name the columns`);
}
