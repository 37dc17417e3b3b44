/** From a header line to what each column means. */
import { SPECIAL_PROPERTIES } from "../../../contract/special-properties.ts";
import { InputError } from "./input-error.ts";
import type { FieldSpec, RowKind } from "../check/row-kind.ts";

export type ColumnTarget =
  | { readonly kind: "field"; readonly field: FieldSpec }
  | { readonly kind: "property"; readonly key: string }
  | { readonly kind: "ignored" };

export interface Column {
  /** The header as the file has it. */
  readonly header: string;
  readonly target: ColumnTarget;
}

export interface HeaderOptions {
  /** `--map "E-Mail Address=email"`: header to meaning. */
  readonly renames: readonly (readonly [header: string, meaning: string])[];
  /** `--ignore-column`. */
  readonly ignored: readonly string[];
  /** The nearest of some words to a mistyped one; null when none is near. */
  readonly suggest: (word: string, candidates: readonly string[]) => string | null;
}

export interface Mapping {
  readonly columns: readonly Column[];
  /** Said once before anything else: what was left out, and near misses. */
  readonly notes: readonly string[];
}

/** Throws InputError for a header that cannot be used; `place` is `file:line`. */
export function mapHeader(headers: readonly string[], kind: RowKind, place: string, options: HeaderOptions): Mapping {
  const names = headers.map((header) => header.trim());
  checkNamed(names, options, place);
  const columns = names.map((header): Column => ({ header, target: targetOf(header, kind, options) }));
  checkTwice(columns, place);
  checkPerson(columns, kind, place, options);
  return {
    columns,
    notes: [...unnamedNote(columns), ...ignoredNote(columns, kind), ...nearMisses(columns, kind, options)],
  };
}

function normal(header: string): string {
  return header.trim().toLowerCase();
}

function targetOf(header: string, kind: RowKind, { renames, ignored }: HeaderOptions): ColumnTarget {
  if (ignored.some((name) => normal(name) === normal(header)) || header === "") return { kind: "ignored" };
  const meaning = renames.find(([from]) => normal(from) === normal(header))?.[1] ?? header;
  const field = kind.fields.find(({ name, otherNames = [] }) => [name, ...otherNames].includes(normal(meaning)));
  if (field !== undefined) return { kind: "field", field };
  if (kind.readOnly.includes(normal(meaning)) || kind.properties === null) return { kind: "ignored" };
  return { kind: "property", key: propertyKey(meaning.trim()) };
}

/** `properties.plan`, `person_properties[plan]` and plain `plan`; older names of special properties are read as the new ones. */
function propertyKey(name: string): string {
  const key = /^(?:person_)?properties(?:\.(.+)|\[(.+)\])$/is.exec(name);
  const plain = key?.[1] ?? key?.[2] ?? name;
  return SPECIAL_PROPERTIES.find((special) => normal(special.key) === normal(plain))?.key ?? plain;
}

function checkNamed(names: readonly string[], { renames, ignored, suggest }: HeaderOptions, place: string): void {
  const known = new Set(names.map(normal));
  for (const [flag, list] of [
    ["--map", renames.map(([from]) => from)],
    ["--ignore-column", ignored],
  ] as const) {
    const missing = list.find((name) => !known.has(normal(name)));
    if (missing === undefined) continue;
    const nearest = suggest(missing, names);
    throw new InputError(`${place}: ${flag}: there is no column "${missing}"; the columns are ${names.join(", ")}`, {
      ...(nearest !== null && { hint: `did you mean "${nearest}"?` }),
    });
  }
}

function checkTwice(columns: readonly Column[], place: string): void {
  const seen = new Map<string, string>();
  for (const { header, target } of columns) {
    if (target.kind === "ignored") continue;
    const meaning = target.kind === "field" ? target.field.name : `property ${target.key}`;
    const before = seen.get(meaning);
    if (before !== undefined) {
      throw new InputError(`${place}: the columns "${before}" and "${header}" both mean ${meaning}`, {
        hint: `leave one out: --ignore-column "${header}"`,
      });
    }
    seen.set(meaning, header);
  }
}

const PERSON_FIELDS = new Set(["person_id", "email", "phone_number"]);

function checkPerson(columns: readonly Column[], kind: RowKind, place: string, { suggest }: HeaderOptions): void {
  const fields = columns.flatMap(({ target }) => (target.kind === "field" ? [target.field.name] : []));
  if (fields.some((name) => PERSON_FIELDS.has(name))) return;
  const wanted = kind.fields.map(({ name }) => name).filter((name) => PERSON_FIELDS.has(name));
  const near = columns.find(({ header }) => suggest(header, wanted) !== null || /e-?mail|phone/i.test(header))?.header;
  const example = near ?? columns[0]?.header ?? "";
  const meaning =
    near === undefined ? "email" : (suggest(near, wanted) ?? (/phone/i.test(near) ? "phone_number" : "email"));
  throw new InputError(
    `${place}: no column names a person; needed is ${wanted.join(" or ")}, found are ${columns.map(({ header }) => header).join(", ")}`,
    {
      hint: `say which column it is: --map "${example}=${meaning}"`,
    },
  );
}

function unnamedNote(columns: readonly Column[]): string[] {
  const places = columns.flatMap(({ header }, index) => (header === "" ? [index + 1] : []));
  if (places.length === 0) return [];
  return [
    `column${places.length === 1 ? "" : "s"} ${places.join(", ")} ${places.length === 1 ? "has" : "have"} no name: left out`,
  ];
}

function ignoredNote(columns: readonly Column[], kind: RowKind): string[] {
  const readOnly = columns.filter(
    ({ header, target }) => target.kind === "ignored" && kind.readOnly.includes(normal(header)),
  );
  if (readOnly.length === 0) return [];
  return [
    `ignored ${readOnly.map(({ header }) => header).join(", ")}: the service sets ${readOnly.length === 1 ? "it" : "them"} itself`,
  ];
}

/** Spreadsheets name these columns in words: "E-Mail Address", "Phone no.", "Full Name". */
function meansPerson(header: string, free: readonly string[]): string | null {
  const words: readonly (readonly [RegExp, string])[] = [
    [/e-?mail/i, "email"],
    [/phone|mobile/i, "phone_number"],
    [/^(?:full|customer|person)[ _-]?name$/i, "name"],
  ];
  return words.find(([pattern, field]) => pattern.test(header) && free.includes(field))?.[1] ?? null;
}

/** `emial` would silently become a property. */
function nearMisses(columns: readonly Column[], kind: RowKind, { suggest }: HeaderOptions): string[] {
  const taken = new Set(columns.flatMap(({ target }) => (target.kind === "field" ? [target.field.name] : [])));
  const free = kind.fields.map(({ name }) => name).filter((name) => !taken.has(name));
  return columns.flatMap(({ header, target }) => {
    const nearest =
      target.kind === "property" && header.length > 3 ? (suggest(header, free) ?? meansPerson(header, free)) : null;
    return nearest === null
      ? []
      : [`column "${header}" is taken as a property; if it is ${nearest}, say --map "${header}=${nearest}"`];
  });
}
