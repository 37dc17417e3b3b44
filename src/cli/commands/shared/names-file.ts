import { InputError, type InputFile, NoRowsError } from "../../../bulk/import/table/input-file.ts";
import { cleanHeader } from "../../../bulk/import/table/header.ts";
import { findExtraCells, isEmptyRow } from "../../../bulk/import/table/record-parser.ts";
import { readRecords } from "../../../bulk/import/table/records.ts";
import { emailKey } from "../../../contract/text/email.ts";
import { quoteText } from "../../../contract/text/invisible.ts";
import { withoutGuard } from "../../../contract/text/formula-guard.ts";
import { parsePersonName, type PersonName } from "../../args/people.ts";
import { UsageError } from "../../errors/usage-error.ts";
import type { Deps } from "../../kit/deps.ts";
import { openInput } from "../../importing/input-source.ts";
import { asUsageError } from "../../importing/problems.ts";

interface NameKind<Name> {
  readonly noun: string;
  readonly headers: readonly (readonly string[])[];
  readonly parse: (cell: string, place: string) => Name;
  readonly keyOf: (name: Name) => string;
}

export const PEOPLE_NAMES: NameKind<PersonName> = {
  noun: "person",
  headers: [
    ["email", "person_email", "e-mail"],
    ["phone_number", "person_phone_number", "phone"],
    ["person_id", "id"],
  ],
  parse: parsePersonName,
  keyOf,
};

export const RESPONSE_IDS: NameKind<string> = {
  noun: "response",
  headers: [["id", "response_id"]],
  parse: parseResponseId,
  keyOf: (id) => id,
};

/** Returns each name once, in file order. `-` is standard input. Throws UsageError for a line without one. */
export async function readNamesFile<Name>(deps: Deps, name: string, kind: NameKind<Name>): Promise<readonly Name[]> {
  const input = await openInput(deps, name);
  try {
    return await collect(input, kind);
  } catch (error) {
    if (error instanceof NoRowsError) return [];
    throw error instanceof InputError ? asUsageError(error) : error;
  } finally {
    await input.close();
  }
}

async function collect<Name>(input: InputFile, kind: NameKind<Name>): Promise<readonly Name[]> {
  const names = new Map<string, Name>();
  let columns: readonly number[] = [];
  let width = Infinity;
  for await (const records of readRecords(input))
    for (const record of records) {
      const { line, fields, problem } = record;
      const place = `${input.name}:${line}`;
      const fault = problem ?? findExtraCells(record, width);
      if (fault !== null) throw new InputError(`${place}: ${fault}`);
      if (isEmptyRow(record)) continue;
      if (columns.length === 0) {
        width = fields.length;
        const named = findColumns(fields, kind);
        columns = named.length > 0 ? named : onlyColumn(fields, place, kind);
        if (named.length > 0) continue;
      }
      const cell = columns.map((column) => withoutGuard(fields[column] ?? "").trim()).find((text) => text !== "");
      if (cell === undefined) throw new InputError(`${place}: no ${listColumns(kind)}`);
      const name = kind.parse(cell, place);
      names.set(kind.keyOf(name), name);
    }
  return [...names.values()];
}

function findColumns(fields: readonly string[], { headers }: Pick<NameKind<never>, "headers">): readonly number[] {
  const found = fields.map((field) => cleanHeader(field).toLowerCase());
  const find = (names: readonly string[]): number =>
    names.map((name) => found.indexOf(name)).find((index) => index !== -1) ?? -1;
  return headers.map(find).filter((column) => column !== -1);
}

function onlyColumn(
  fields: readonly string[],
  place: string,
  kind: Pick<NameKind<never>, "headers" | "noun">,
): readonly number[] {
  if (fields.length === 1) return [0];
  throw new InputError(`${place}: no ${listColumns(kind)} column (found: ${fields.join(", ")})`, {
    hint: `name the columns in the first line, or write one ${kind.noun} a line`,
  });
}

function listColumns({ headers }: Pick<NameKind<never>, "headers">): string {
  const names = headers.map(([name]) => name);
  return names.length === 1 ? `${names[0]}` : `${names.slice(0, -1).join(", ")} or ${names.at(-1)}`;
}

function parseResponseId(cell: string, place: string): string {
  if (/^\S+$/.test(cell)) return cell;
  throw new UsageError(`${place}: ${quoteText(cell)} is not a response's id such as 42`);
}

function keyOf(person: PersonName): string {
  if ("email" in person) return emailKey(person.email);
  return "id" in person ? person.id : person.phone_number;
}
