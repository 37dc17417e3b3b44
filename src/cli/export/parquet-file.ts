/** Writes lines of `parquet-rows.ts` as a Parquet file. */
import { ByteWriter, ParquetWriter, schemaFromColumnData } from "hyparquet-writer";
import { VERSION } from "../../runtime/version.ts";
import type { ExportOutput } from "./output.ts";
import type { Cell, TypedColumn } from "./parquet-rows.ts";

/** Held in memory until they are written; five times as many took 380 MB. */
const GROUP_ROWS = 10_000;

export function toParquet(output: ExportOutput): ExportOutput {
  const decoder = new TextDecoder();
  let unfinished = "";
  let file: ParquetFile | null = null;
  const write = async (text: string | Uint8Array): Promise<void> => {
    const lines = (unfinished + (typeof text === "string" ? text : decoder.decode(text, { stream: true }))).split("\n");
    unfinished = lines.pop() ?? "";
    for (const line of lines) {
      if (file === null) file = new ParquetFile(JSON.parse(line) as TypedColumn[]);
      else if (file.rows.push(JSON.parse(line) as Cell[]) === GROUP_ROWS) await output.sink.write(file.takeGroup());
    }
  };
  const close: ExportOutput["close"] = async () => {
    if (file !== null) await output.sink.write(file.end());
    return output.close();
  };
  return { ...output, sink: { ...output.sink, write }, close };
}

class ParquetFile {
  rows: Cell[][] = [];
  readonly #columns: readonly TypedColumn[];
  readonly #bytes = new ByteWriter();
  readonly #writer: ParquetWriter;

  constructor(columns: readonly TypedColumn[]) {
    this.#columns = columns;
    const schema = schemaFromColumnData({ columnData: columns.map((column) => ({ ...column, data: [] })) });
    this.#writer = new ParquetWriter({ writer: this.#bytes, schema, createdBy: `surveyctl ${VERSION}` });
  }

  takeGroup(): Uint8Array {
    const columnData = this.#columns.map((column, at) => ({
      ...column,
      data: this.rows.map((row) => row[at] ?? null),
    }));
    // Bytes in memory need no promise.
    void this.#writer.write({ columnData, rowGroupSize: GROUP_ROWS });
    this.rows = [];
    const bytes = this.#bytes.getBytes().slice();
    this.#bytes.index = 0;
    return bytes;
  }

  end(): Uint8Array {
    const group = this.takeGroup();
    void this.#writer.finish();
    return Buffer.concat([group, this.#bytes.getBytes()]);
  }
}
