import { InputError, type InputFile, NoRowsError } from "../../../bulk/import/table/input-file.ts";
import { cleanHeader } from "../../../bulk/import/table/header.ts";
import { findExtraCells, isEmptyRow } from "../../../bulk/import/table/record-parser.ts";
import { readRecords } from "../../../bulk/import/table/records.ts";
import { emailKey } from "../../../contract/text/email.ts";
import { withoutGuard } from "../../../contract/text/formula-guard.ts";
import { parsePersonName, type PersonName } from "../../args/people.ts";
import type { Deps } from "../../kit/deps.ts";
import { openInput } from "../../importing/input-source.ts";
import { asUsageError } from "../../importing/problems.ts";

/** Most reliable identifier first. */
const HEADERS = [
  ["email", "person_email", "e-mail"],
  ["phone_number", "person_phone_number", "phone"],
  ["person_id", "id"],
] as const;

/** Returns each person once, in file order. `-` is standard input. Throws UsageError for a line that names no one. */
export async function readPeopleFile(deps: Deps, name: string): Promise<readonly PersonName[]> {
  const input = await openInput(deps, name);
  try {
    return await collect(input);
  } catch (error) {
    if (error instanceof NoRowsError) return [];
    throw error instanceof InputError ? asUsageError(error) : error;
  } finally {
    await input.close();
  }
}

async function collect(input: InputFile): Promise<readonly PersonName[]> {
  const people = new Map<string, PersonName>();
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
        const named = findColumns(fields);
        columns = named.length > 0 ? named : onlyColumn(fields, place);
        if (named.length > 0) continue;
      }
      const cell = columns.map((column) => withoutGuard(fields[column] ?? "").trim()).find((text) => text !== "");
      if (cell === undefined) throw new InputError(`${place}: no email, phone number or person id`);
      const person = parsePersonName(cell, place);
      people.set(keyOf(person), person);
    }
  return [...people.values()];
}

function findColumns(fields: readonly string[]): readonly number[] {
  const headers = fields.map((field) => cleanHeader(field).toLowerCase());
  const find = (names: readonly string[]): number =>
    names.map((name) => headers.indexOf(name)).find((index) => index !== -1) ?? -1;
  return HEADERS.map(find).filter((column) => column !== -1);
}

function onlyColumn(fields: readonly string[], place: string): readonly number[] {
  if (fields.length === 1) return [0];
  throw new InputError(`${place}: no email, phone_number or person_id column (found: ${fields.join(", ")})`, {
    hint: "name the columns in the first line, or write one person a line",
  });
}

export function keyOf(person: PersonName): string {
  if ("email" in person) return emailKey(person.email);
  return "id" in person ? person.id : person.phone_number;
}
