import { isPersonData, mapHeader, type HeaderOptions, type Mapping } from "./header.ts";
import { withoutGuard } from "../../../contract/text/formula-guard.ts";
import { InputError, type InputFile } from "./input-file.ts";
import { RULES } from "../check/rules.ts";
import { createValidator, type Validator, type ValidatorOptions } from "../check/validate.ts";
import { type InputRecord, isEmptyRow } from "./record-parser.ts";
import { readTable, type TableBatch } from "./records.ts";
import type { FieldSpec, ImportRow, InvalidRow, RowKind } from "../check/row-kind.ts";

export interface ImportTable extends Validator {
  readonly input: InputFile;
  readonly kind: RowKind;
  readonly mapping: Mapping;
  readonly headers: readonly string[];
  records(): AsyncGenerator<readonly InputRecord[]>;
  rows(): AsyncGenerator<readonly (ImportRow | InvalidRow)[]>;
}

export interface TableOptions extends Omit<ValidatorOptions, "columns"> {
  readonly header: Omit<HeaderOptions, "suits">;
}

export async function openTable(input: InputFile, options: TableOptions): Promise<ImportTable> {
  const head = await readHead(input);
  const mapping = readMapping(input, options, head);
  const validator = createValidator({ ...options, columns: mapping.columns });
  const records = async function* (): AsyncGenerator<readonly InputRecord[]> {
    for await (const { rows } of readTable(input)) yield rows;
  };
  return {
    input,
    kind: options.kind,
    mapping,
    headers: head.header.fields,
    records,
    ...validator,
    async *rows() {
      for await (const batch of records())
        yield batch.filter((record) => !isEmptyRow(record)).map((record) => validator.validate(record));
    },
  };
}

const TITLE_LINES = 10;

function readMapping(
  input: InputFile,
  { kind, header, readers }: TableOptions,
  { header: first, rows: rest }: TableBatch,
): Mapping {
  const suits = (column: number, { rule }: FieldSpec): boolean | null => {
    const cells = rest.map(({ fields }) => withoutGuard(fields[column] ?? "").trim()).filter((cell) => cell !== "");
    const valid = cells.filter((cell) => "value" in RULES[rule](cell, readers));
    return cells.length === 0 ? null : 2 * valid.length >= cells.length;
  };
  const map = ({ fields, line }: InputRecord): Mapping =>
    mapHeader(fields, kind, `${input.name}:${line}`, { ...header, suits });
  try {
    return map(first);
  } catch (error) {
    const heads = rest.slice(0, TITLE_LINES).filter(({ fields }) => !fields.some(isPersonData));
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
  } catch (error) {
    return error instanceof InputError && error.fix?.kind === "map";
  }
}

async function readHead(input: InputFile): Promise<TableBatch> {
  for await (const head of readTable(input)) return head;
  throw new InputError(`${input.name} is empty; the first line must name the columns`);
}
