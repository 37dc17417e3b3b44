import { ByteWriter, ParquetWriter, schemaFromColumnData } from "hyparquet-writer";
import { VERSION } from "../../runtime/version.ts";
import type { ExportOutput } from "./output.ts";
import type { Cell, TypedColumn } from "./parquet-rows.ts";

/** Rows held in memory until they are written; 50,000 took 380 MB. */
const GROUP_ROWS = 10_000;

export function toParquet(output: ExportOutput): ExportOutput {
  const decoder = new TextDecoder();
  const bytes = new ByteWriter();
  let unfinished = "";
  let columns: readonly TypedColumn[] = [];
  let rows: Cell[][] = [];
  let file: ParquetWriter | null = null;
  const passOn = (): Promise<void> => {
    const written = bytes.getBytes().slice();
    bytes.index = 0;
    return output.sink.write(written);
  };
  const writeGroup = async (): Promise<void> => {
    const columnData = columns.map((column, at) => ({ ...column, data: rows.map((row) => row[at] ?? null) }));
    rows = [];
    await file?.write({ columnData, rowGroupSize: GROUP_ROWS });
    await passOn();
  };
  const write = async (text: string | Uint8Array): Promise<void> => {
    const lines = (unfinished + (typeof text === "string" ? text : decoder.decode(text, { stream: true }))).split("\n");
    unfinished = lines.pop() ?? "";
    for (const line of lines) {
      if (file === null) {
        columns = JSON.parse(line) as TypedColumn[];
        const schema = schemaFromColumnData({ columnData: columns.map((column) => ({ ...column, data: [] })) });
        file = new ParquetWriter({ writer: bytes, schema, createdBy: `surveyctl ${VERSION}` });
      } else if (rows.push(JSON.parse(line) as Cell[]) === GROUP_ROWS) await writeGroup();
    }
  };
  const close: ExportOutput["close"] = async () => {
    await writeGroup();
    await file?.finish();
    await passOn();
    return output.close();
  };
  return { ...output, sink: { ...output.sink, write }, close };
}
