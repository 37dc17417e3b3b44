import { isJsonObject, type Json, type JsonObject } from "../../../contract/json.ts";
import { guardFormula } from "../../../contract/text/formula-guard.ts";
import { InputError, type InputFile, NoRowsError } from "./input-file.ts";
import { type JsonRecord, readJsonRecords } from "./json-records.ts";
import type { InputRecord } from "./record-parser.ts";

const KEYS_MAX = 2000;

export async function* readJsonTable(input: InputFile): AsyncGenerator<InputRecord[]> {
  const keys = await readKeys(input);
  yield [{ line: 1, fields: keys, lineEnds: 0 }];
  for await (const batch of readJsonRecords(input)) yield batch.map((record) => toInputRecord(record, keys));
}

async function readKeys(input: InputFile): Promise<readonly string[]> {
  const keys = new Set<string>();
  let before = 0;
  let firstProblem: string | null = null;
  for await (const batch of readJsonRecords(input))
    for (const { line, value, problem } of batch) {
      if (problem !== undefined) firstProblem ??= `${input.name}:${line}: ${problem}`;
      // Two rows can't share a line, because runs are resumed by line.
      if (line === before)
        throw new InputError(`${input.name}:${line}: two objects are on one line`, {
          hint: "write one object a line: jq -c '.[]' old.json > new.ndjson",
        });
      before = line;
      for (const key of Object.keys(withPerson(value))) keys.add(key);
      if (keys.size > KEYS_MAX) throw new InputError(`${input.name}:${line}: more than ${KEYS_MAX} different keys`);
    }
  if (before === 0) throw new NoRowsError(`${input.name} has no rows`);
  if (keys.size === 0) throw new InputError(firstProblem ?? `${input.name} has empty objects only`);
  return [...keys];
}

function toInputRecord(
  { line, lineEnds, value, problem, text = "" }: JsonRecord,
  keys: readonly string[],
): InputRecord {
  if (problem !== undefined) return { line, lineEnds, fields: [text], problem };
  const row = withPerson(value);
  const values = keys.map((key) => (Object.hasOwn(row, key) ? (row[key] ?? null) : null));
  return { line, lineEnds, fields: values.map(toCell), values };
}

/** Adds a guard, because one is removed from every cell later, and text that looks guarded must stay the same. */
function toCell(value: Json): string {
  if (value === null) return "";
  return guardFormula(typeof value === "string" ? value : JSON.stringify(value));
}

const PERSON_FIELDS = ["id", "email", "name", "phone_number"];

/** With `expand[]=person`, `person` is an object. */
function withPerson(row: JsonObject): JsonObject {
  const { person, ...rest } = row;
  if (!isJsonObject(person)) return row;
  for (const field of PERSON_FIELDS) rest[`person_${field}`] ??= person[field] ?? null;
  return rest;
}
