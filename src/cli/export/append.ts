import { createReadStream } from "node:fs";
import { createGunzip } from "node:zlib";
import { parseJsonObject } from "../../contract/json.ts";
import { UsageError } from "../errors/usage-error.ts";
import type { OpenedExport } from "./increment.ts";
import { createPageEncoder, type ExportPlan } from "./plan.ts";
import type { ExportRequest } from "./request.ts";

export async function checkOldFile({ deps, request, plan, output }: OpenedExport): Promise<void> {
  if (output.path === null || output.oldBytes === 0) return;
  const start = await readStart(output.path, plan.gzip);
  const problem =
    start === null
      ? "it is not compressed"
      : plan.format === "csv"
        ? checkHeader(start, createPageEncoder(deps, plan).head.replace(/^\ufeff/, ""))
        : checkRow(start.split("\n")[0] ?? "", request, plan);
  if (problem === null) return;
  throw new UsageError(`--append: ${plan.file ?? ""} cannot be added to: ${problem}`, {
    hint: "use another --out file, or leave --append out to replace this one",
  });
}

const START_CHARS = 64 * 1024;

/** Returns null if `gzip` is set but the file isn't compressed. */
async function readStart(file: string, gzip: boolean): Promise<string | null> {
  const stream = createReadStream(file);
  const chunks: Buffer[] = [];
  let length = 0;
  try {
    for await (const chunk of (gzip ? stream.pipe(createGunzip()) : stream) as AsyncIterable<Buffer>) {
      chunks.push(chunk);
      length += chunk.length;
      if (length >= START_CHARS) break;
    }
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code?.startsWith("Z_") === true) return null;
    throw error;
  } finally {
    stream.destroy();
  }
  return Buffer.concat(chunks)
    .toString()
    .replace(/^\ufeff/, "");
}

function checkHeader(start: string, header: string): string | null {
  const [end = "\n"] = /\r?\n$/.exec(header) ?? [];
  const columns = header.slice(0, -end.length);
  if (!start.startsWith(columns)) return `its columns are ${start.split(/\r?\n/)[0] ?? ""}, not ${columns}`;
  const after = start.slice(columns.length);
  if (after === "" || after.startsWith(end)) return null;
  if (after.startsWith("\n") || after.startsWith("\r\n")) return "its lines end in another way (--excel)";
  return "it has more columns";
}

/** TSV and NDJSON have no header, so the first row is checked. */
function checkRow(line: string, { resource, source }: ExportRequest, plan: ExportPlan): string | null {
  if (plan.format === "tsv") {
    const [expected, found] = [plan.columns?.length ?? 0, line.split("\t").length];
    return found === expected ? null : `its rows have ${found} fields, not ${expected}`;
  }
  const row = parseJsonObject(line);
  if (row === null) return "it does not hold JSON objects";
  if (plan.columns !== null) {
    const [expected, found] = [plan.columns.map(({ name }) => name).join(","), Object.keys(row).join(",")];
    return found === expected ? null : `its columns are ${found}, not ${expected}`;
  }
  const known = resource.columns.filter(({ read }) => read(row) !== undefined).length;
  const fits = source.keys.at(row) !== null && known > (resource.columns.length * 2) / 3;
  return fits ? null : `its rows are not ${resource.noun}`;
}
