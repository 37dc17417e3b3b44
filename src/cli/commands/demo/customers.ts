/** The customers that ship with the program. */
import { readFile } from "node:fs/promises";
import { parse } from "csv-parse/sync";

export interface Customer {
  readonly email: string;
  readonly phoneNumber: string;
  readonly name: string;
  /** What the import makes properties of. */
  readonly properties: Readonly<Record<string, string>>;
}

/** Lies beside this module, in the sources and in the built package alike. */
const FILE = new URL("./demo-people.csv", import.meta.url);
const PROPERTIES = ["locale", "plan", "region", "store"] as const;

export function readDemoCsv(): Promise<string> {
  return readFile(FILE, "utf8");
}

export function parseCustomers(csv: string): Customer[] {
  const rows = parse(csv, { columns: true }) as Record<string, string>[];
  return rows.map((row) => ({
    email: row["email"] ?? "",
    phoneNumber: row["phone_number"] ?? "",
    name: row["name"] ?? "",
    properties: Object.fromEntries(PROPERTIES.map((name) => [name, row[name] ?? ""])),
  }));
}
