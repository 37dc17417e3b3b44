import { isEmail } from "../../../contract/text/email.ts";
import { withoutGuard } from "../../../contract/text/formula-guard.ts";
import { describeInvisible, INVISIBLE } from "../../../contract/text/invisible.ts";
import { isE164 } from "../../../contract/text/phone.ts";
import { SPECIAL_PROPERTIES } from "../../../contract/special-properties.ts";
import { InputError, type InputFix } from "./input-file.ts";
import type { FieldSpec, RowKind } from "../check/row-kind.ts";

type ColumnTarget =
  /** `joined` has the indexes of columns whose text is appended to this one. */
  | { readonly kind: "field"; readonly field: FieldSpec; readonly joined?: readonly number[] }
  | { readonly kind: "property"; readonly key: string }
  | { readonly kind: "ignored" };

export interface HeaderColumn {
  readonly header: string;
  readonly target: ColumnTarget;
}

export interface HeaderOptions {
  /** Pairs such as `E-Mail Address` and `email`; `First name+Last name` joins two columns. */
  readonly renames: readonly (readonly [header: string, meaning: string])[];
  readonly ignored: readonly string[];
  readonly suggest: (word: string, candidates: readonly string[]) => string | null;
  readonly suits: (column: number, field: FieldSpec) => boolean | null;
}

export interface NearMiss {
  readonly header: string;
  readonly field: string;
}

export interface Mapping {
  readonly columns: readonly HeaderColumn[];
  readonly notes: readonly string[];
  readonly nearMisses: readonly NearMiss[];
}

export function cleanHeader(header: string): string {
  return withoutGuard(header).replaceAll(INVISIBLE, "").replaceAll(/\s+/g, " ").trim();
}

/** Throws InputError for an unusable header; `place` is `file:line`. */
export function mapHeader(headers: readonly string[], kind: RowKind, place: string, options: HeaderOptions): Mapping {
  const names = headers.map(cleanHeader);
  const [renames, joins] = splitRenames(names, options.renames);
  const single = { ...options, renames: [...renames, ...joins.flatMap(({ parts }) => parts.map(toPart))] };
  checkNamed(names, single, place);
  const columns = joinColumns(
    names.map((header): HeaderColumn => ({ header, target: columnTarget(header, kind, { ...options, renames }) })),
    joins,
    kind,
    place,
  );
  checkTwice(columns, place);
  const nearMisses = findNearMisses(columns, kind, options);
  checkPerson(columns, kind, place, options, nearMisses);
  const notes = [
    ...invisibleNotes(headers),
    ...unnamedNote(columns),
    ...ignoredNote(columns, kind),
    ...secondNotes(columns, kind, nearMisses, options),
  ];
  return { columns, notes, nearMisses };
}

interface Join {
  readonly parts: readonly string[];
  readonly meaning: string;
}

const toPart = (header: string): readonly [string, string] => [header, ""];

/** A header that itself contains a `+` takes precedence. */
function splitRenames(
  names: readonly string[],
  renames: HeaderOptions["renames"],
): readonly [HeaderOptions["renames"], readonly Join[]] {
  const known = new Set(names.map(normal));
  const isJoin = ([from]: readonly [string, string]): boolean => from.includes("+") && !known.has(normal(from));
  const joins = renames.filter(isJoin).map(([from, meaning]) => ({
    parts: from.split("+").map((part) => part.trim()),
    meaning,
  }));
  return [renames.filter((rename) => !isJoin(rename)), joins];
}

function joinColumns(
  columns: readonly HeaderColumn[],
  joins: readonly Join[],
  kind: RowKind,
  place: string,
): readonly HeaderColumn[] {
  const joined = [...columns];
  for (const { parts, meaning } of joins) {
    const field = findField(meaning, kind);
    if (field?.rule !== "text")
      throw new InputError(`${place}: columns can be joined into name alone, not into "${meaning}"`);
    const [first = 0, ...others] = parts.map((part) =>
      columns.findIndex(({ header }) => normal(header) === normal(part)),
    );
    for (const other of others) joined[other] = { header: columns[other]?.header ?? "", target: { kind: "ignored" } };
    joined[first] = { header: columns[first]?.header ?? "", target: { kind: "field", field, joined: others } };
  }
  return joined;
}

function findField(meaning: string, kind: RowKind): FieldSpec | undefined {
  return kind.fields.find(({ name, otherNames = [] }) => [name, ...otherNames].includes(normal(meaning)));
}

function normal(header: string): string {
  return cleanHeader(header).toLowerCase();
}

function columnTarget(
  header: string,
  kind: RowKind,
  { renames, ignored }: Pick<HeaderOptions, "renames" | "ignored">,
): ColumnTarget {
  if (ignored.some((name) => normal(name) === normal(header)) || header === "") return { kind: "ignored" };
  const meaning = renames.find(([from]) => normal(from) === normal(header))?.[1] ?? header;
  const field = findField(meaning, kind);
  if (field !== undefined) return { kind: "field", field };
  if (isReadOnly(meaning, kind) || kind.properties === null) return { kind: "ignored" };
  return { kind: "property", key: propertyKey(meaning.trim()) };
}

/** Reads `properties.plan`, `person_properties[plan]`, `plan`, and older names of special properties. */
export function propertyKey(name: string): string {
  const key = /^(?:person_)?properties(?:\.(.+)|\[(.+)\])$/is.exec(name);
  const plain = key?.[1] ?? key?.[2] ?? name;
  return SPECIAL_PROPERTIES.find((special) => normal(special.key) === normal(plain))?.key ?? plain;
}

function isReadOnly(header: string, { readOnly }: RowKind): boolean {
  const name = normal(header);
  return readOnly.some((column) => name === column || name.startsWith(`${column}.`));
}

function checkNamed(names: readonly string[], { renames, ignored, suggest }: HeaderOptions, place: string): void {
  const known = new Set(names.map(normal));
  for (const [verb, list] of [
    ["map", renames.map(([from]) => from)],
    ["ignore", ignored],
  ] as const) {
    const missing = list.find((name) => !known.has(normal(name)));
    if (missing === undefined) continue;
    const nearest = suggest(missing, names);
    throw new InputError(`${place}: cannot ${verb} column "${missing}": the columns are ${names.join(", ")}`, {
      ...(nearest !== null && { hint: `did you mean "${nearest}"?` }),
    });
  }
}

function checkTwice(columns: readonly HeaderColumn[], place: string): void {
  const seen = new Map<string, string>();
  for (const { header, target } of columns) {
    if (target.kind === "ignored") continue;
    const meaning = target.kind === "field" ? target.field.name : `property ${target.key}`;
    const before = seen.get(meaning);
    if (before !== undefined) {
      // `--ignore` takes a header, so it would ignore both columns if their headers are equal.
      const advice =
        normal(before) === normal(header)
          ? { hint: "rename one of them in the file" }
          : { fix: { kind: "ignore", header } as const };
      throw new InputError(`${place}: the columns "${before}" and "${header}" both mean ${meaning}`, advice);
    }
    seen.set(meaning, header);
  }
}

const PERSON_FIELDS = new Set(["person_id", "email", "phone_number"]);

function checkPerson(
  columns: readonly HeaderColumn[],
  kind: RowKind,
  place: string,
  { suggest, renames }: HeaderOptions,
  nearMisses: readonly NearMiss[],
): void {
  const fields = columns.flatMap(({ target }) => (target.kind === "field" ? [target.field.name] : []));
  if (fields.some((name) => PERSON_FIELDS.has(name))) return;
  const wanted = kind.fields.map(({ name }) => name).filter((name) => PERSON_FIELDS.has(name));
  const found = columns.map(({ header }) => header).filter((header) => header !== "");
  const datum = found.find(isPersonData);
  if (datum !== undefined) {
    throw new InputError(`${place}: there is no header; the first line holds data (${datum})`, {
      hint: "add a first line that names the columns, as in email,name",
    });
  }
  const mistyped = renames.map(([, meaning]) => meaning).find((meaning) => suggest(meaning, wanted) !== null);
  const advice =
    mistyped === undefined
      ? mappingFix(nearMisses)
      : { hint: `"${mistyped}" is not a known column; did you mean ${suggest(mistyped, wanted)}?` };
  const list = wanted.length < 3 ? wanted.join(" or ") : `${wanted.slice(0, -1).join(", ")} or ${wanted.at(-1)}`;
  throw new InputError(`${place}: no ${list} column (found: ${found.join(", ")})`, advice || {});
}

export function isPersonData(cell: string): boolean {
  return isEmail(cell) || isE164(cell);
}

/** Suggests a mapping; false if the columns still couldn't identify a person. */
function mappingFix(columns: readonly NearMiss[]): { readonly fix: InputFix } | false {
  return columns.some(({ field }) => PERSON_FIELDS.has(field)) && { fix: { kind: "map", columns } };
}

function invisibleNotes(headers: readonly string[]): string[] {
  return headers.flatMap((header) => {
    const found = describeInvisible(header);
    return found === null ? [] : [`the header "${cleanHeader(header)}" has ${found}: removed`];
  });
}

function unnamedNote(columns: readonly HeaderColumn[]): string[] {
  const places = columns.flatMap(({ header }, index) => (header === "" ? [index + 1] : []));
  if (places.length === 0) return [];
  const [noun, verb] = places.length === 1 ? ["column", "has"] : ["columns", "have"];
  return [`${noun} ${places.join(", ")} ${verb} no name: ignored`];
}

function ignoredNote(columns: readonly HeaderColumn[], kind: RowKind): string[] {
  const readOnly = columns.filter(({ header, target }) => target.kind === "ignored" && isReadOnly(header, kind));
  if (readOnly.length === 0) return [];
  const pronoun = readOnly.length === 1 ? "it" : "them";
  return [`ignored ${readOnly.map(({ header }) => header).join(", ")}: only the service sets ${pronoun}`];
}

const OTHER_HEADERS: readonly (readonly [RegExp, string])[] = [
  [/e-?mail/i, "email"],
  [/phone|mobile/i, "phone_number"],
  [/^(?:full|customer|person)[ _-]?name$/i, "name"],
];

function meansPerson(header: string): string | null {
  return OTHER_HEADERS.find(([pattern]) => pattern.test(header))?.[1] ?? null;
}

/** A typo such as `emial` would silently become a property. Suggests a column only if its cells fit the field. */
function findNearMisses(columns: readonly HeaderColumn[], kind: RowKind, options: HeaderOptions): NearMiss[] {
  const mapped = new Set(columns.map(({ target }) => (target.kind === "field" ? target.field.name : null)));
  const free = kind.fields.filter(({ name }) => !mapped.has(name));
  const names = free.some(({ name }) => name === "name") ? findNameParts(columns) : [];
  const found = new Map<string, string>(names.length === 0 ? [] : [["name", names.join("+")]]);
  for (const [index, { header, target }] of columns.entries()) {
    if (target.kind === "field" || header.length <= 3 || names.includes(header)) continue;
    if (target.kind === "ignored" && kind.properties !== null) continue;
    const name =
      options.suggest(
        header,
        free.map((field) => field.name),
      ) ?? meansPerson(header);
    const field = free.find((each) => each.name === name);
    if (field !== undefined && !found.has(field.name) && options.suits(index, field) !== false)
      found.set(field.name, header);
  }
  return [...found].map(([field, header]) => ({ header, field }));
}

function secondNotes(
  columns: readonly HeaderColumn[],
  kind: RowKind,
  nearMisses: readonly NearMiss[],
  { suits }: HeaderOptions,
): string[] {
  return columns.flatMap(({ header, target }, index) => {
    const field = kind.fields.find(({ name }) => PERSON_FIELDS.has(name) && name === meansPerson(header));
    const isOther = target.kind === "property" && !nearMisses.some((nearMiss) => nearMiss.header === header);
    if (field === undefined || !isOther || suits(index, field) !== true) return [];
    return [`"${header}" looks like another ${field.name}; it is imported as a property`];
  });
}

const NAME_PARTS = [/^(?:first|given)[ _-]?name$|^forename$/i, /^(?:last|family)[ _-]?name$|^surname$/i];

function findNameParts(columns: readonly HeaderColumn[]): readonly string[] {
  const properties = columns.filter(({ target }) => target.kind === "property").map(({ header }) => header);
  const parts = NAME_PARTS.flatMap((pattern) => properties.find((header) => pattern.test(header)) ?? []);
  return parts.length === NAME_PARTS.length ? parts : [];
}
