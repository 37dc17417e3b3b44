/** A file whose header is understood: its records, validated, as often as they are asked for. */
import { isDatum, mapHeader, type HeaderOptions, type Mapping } from "./header.ts";
import { withoutGuard } from "../../../contract/text/formula-guard.ts";
import { InputError, type InputFile } from "./input-file.ts";
import { RULES } from "../check/rules.ts";
import { createValidator, type Validator, type ValidatorOptions } from "../check/validate.ts";
import { type InputRecord, isEmptyRow } from "./record-parser.ts";
import { readRecords } from "./records.ts";
import type { FieldSpec, ImportRow, InvalidRow, RowKind } from "../check/row-kind.ts";

export interface ImportTable extends Validator {
  readonly input: InputFile;
  readonly kind: RowKind;
  readonly mapping: Mapping;
  readonly headers: readonly string[];
  /** Every record below the header, empty rows too, in batches. */
  records(): AsyncGenerator<readonly InputRecord[]>;
  /** Every record as the row it becomes, in batches. */
  rows(): AsyncGenerator<readonly (ImportRow | InvalidRow)[]>;
  /** Lets the file go where no record was asked for. */
  close(): Promise<void>;
}

export interface TableOptions extends Omit<ValidatorOptions, "columns"> {
  readonly header: Omit<HeaderOptions, "suits">;
}

/** Reads the header alone. Throws InputError. */
export async function openTable(input: InputFile, options: TableOptions): Promise<ImportTable> {
  const opening = await beginReading(input);
  try {
    return createTable(input, options, opening);
  } catch (error) {
    await opening.batches.return(undefined);
    throw error;
  }
}

/** Lines below the first that are tried as the header. */
const TITLE_LINES = 10;

function readMapping(
  input: InputFile,
  { kind, header, readers }: TableOptions,
  { header: first, rest }: Begun,
): Mapping {
  const suits = (column: number, { rule }: FieldSpec): boolean | null => {
    const cells = rest.map(({ fields }) => withoutGuard(fields[column] ?? "").trim()).filter((cell) => cell !== "");
    return cells.length === 0
      ? null
      : 2 * cells.filter((cell) => "value" in RULES[rule](cell, readers)).length >= cells.length;
  };
  const map = ({ fields, line }: InputRecord): Mapping =>
    mapHeader(fields, kind, `${input.name}:${line}`, { ...header, suits });
  try {
    return map(first);
  } catch (error) {
    const heads = rest.slice(0, TITLE_LINES).filter(({ fields }) => !fields.some(isDatum));
    const below = heads.find((record) => isMappable(() => map(record)));
    if (!(error instanceof InputError) || below === undefined) throw error;
    throw new InputError(`${error.message}; line ${below.line} looks like the header`, {
      hint: `remove the lines above line ${below.line}`,
      cause: error,
    });
  }
}

function isMappable(map: () => Mapping): boolean {
  try {
    return map().columns.length > 0;
  } catch {
    return false;
  }
}

function createTable(input: InputFile, options: TableOptions, opening: Begun): ImportTable {
  const { header } = opening;
  const mapping = readMapping(input, options, opening);
  const validator = createValidator({ ...options, columns: mapping.columns });
  // The parser that found the header continues with the first pass: V8 runs a second parser a tenth slower.
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
    records,
    ...validator,
    async *rows() {
      for await (const batch of records())
        yield batch.filter((record) => !isEmptyRow(record)).map((record) => validator.validate(record));
    },
    close: async () => void (await waiting?.batches.return(undefined)),
  };
}

/** A file that was read as far as its header. */
interface Begun {
  readonly header: InputRecord;
  /** Records that were read with the header. */
  readonly rest: readonly InputRecord[];
  readonly batches: AsyncGenerator<readonly InputRecord[]>;
}

async function beginReading(input: InputFile): Promise<Begun> {
  const batches = readRecords(input);
  for (let next = await batches.next(); next.done !== true; next = await batches.next()) {
    const at = next.value.findIndex((record) => !isEmptyRow(record));
    const header = next.value[at];
    if (header?.problem !== undefined) throw new InputError(`${input.name}:${header.line}: ${header.problem}`);
    if (header !== undefined) return { header, rest: next.value.slice(at + 1), batches };
  }
  throw new InputError(`${input.name} is empty; the first line must name the columns`);
}

async function* goOn(begun: Begun | Promise<Begun>): AsyncGenerator<readonly InputRecord[]> {
  const { rest, batches } = await begun;
  yield rest;
  yield* batches;
}
