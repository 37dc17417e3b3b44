import { readdir, readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { parse } from "csv-parse/sync";
import { afterAll, beforeAll } from "vitest";
import { size } from "./long.ts";
import { startServe, type Served } from "./serve.ts";

export const FIXTURES = path.join(import.meta.dirname, "../fixtures");

/**
 * Starts one server for all tests of a file, with a function that writes files into its folder. Call it at the top
 * level.
 */
export function serveTests(prepare: (service: Served) => unknown = () => undefined) {
  let served: Served | null = null;
  const service = new Proxy({} as Served, { get: (_, name) => Reflect.get(served ?? {}, name) as unknown });
  beforeAll(async () => {
    served = await startServe();
    await prepare(served);
  });
  afterAll(() => served?.stop());
  const fileOf = async (name: string, text: string): Promise<string> => {
    const file = path.join(service.folder, name);
    await writeFile(file, text);
    return file;
  };
  return { service, fileOf };
}

export function withoutUndo(row: string): string {
  return row.replace(/,(?:created|updated)?,$/, "");
}

/** Line, outcome and reason of each row: `2 scheduled`, `3 skipped duplicate of line 2`. */
export async function outcomesIn(results: string): Promise<string[]> {
  const [, ...rows] = (await readFile(results, "utf8")).trim().split("\n");
  return rows.map((row) =>
    withoutUndo(row)
      .replace(/^(\d+),[^,]*,(\w+),[^,]*,[^,]*,/, "$1 $2 ")
      .trim(),
  );
}

export type CsvRow = Readonly<Record<string, string>>;

export async function readCsv(file: string): Promise<CsvRow[]> {
  return parse(await readFile(file, "utf8"), { columns: true, bom: true });
}

export async function firstRows(folder: string, name: string, rows: number): Promise<string> {
  const lines = (await readFile(path.join(FIXTURES, name), "utf8")).trimEnd().split("\n");
  const file = path.join(folder, name);
  await writeFile(file, `${lines.slice(0, rows + 1).join("\n")}\n`);
  return file;
}

export function personKey({ email = "", phone_number: phone = "" }: CsvRow): string {
  return email === "" ? phone : email.toLowerCase();
}

export async function peopleAt(service: Served): Promise<string[]> {
  const { stdout } = await service.run(["people", "export", "-o", "ndjson"]);
  const rows = stdout.split("\n").filter((line) => line !== "");
  return rows.map((line) => personKey(withoutNulls(JSON.parse(line) as Record<string, string | null>))).toSorted();
}

function withoutNulls(row: Readonly<Record<string, string | null>>): CsvRow {
  return { email: row["email"] ?? "", phone_number: row["phone_number"] ?? "" };
}

/** Sorted recipients of the sent messages. Waits until no more arrive or there are more than `expected`. */
export async function receivers(service: Served, expected: number): Promise<string[]> {
  const outbox = path.join(path.dirname(service.dataFile), "outbox");
  let names: string[] = [];
  for (let still = 0; still < size(4, 10);) {
    await new Promise((resolve) => setTimeout(resolve, 100));
    const now = await readdir(outbox).catch(() => []);
    const settled = now.length === names.length && now.length >= expected;
    still = settled ? still + 1 : 0;
    names = now;
  }
  const texts = await Promise.all(names.map((name) => readFile(path.join(outbox, name), "utf8")));
  return texts.map(receiver).toSorted();
}

function receiver(text: string): string {
  if (text.startsWith("{")) return (JSON.parse(text) as { to: string }).to;
  return (/^To: .*<(.+)>\r?$/m.exec(text)?.[1] ?? /^To: (.+?)\r?$/m.exec(text)?.[1] ?? "").toLowerCase();
}
