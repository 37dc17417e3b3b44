/** Replaces personal data with marks such as `[email-1]`. A masker gives the same value the same mark. */
import { isJsonObject, type Json, type JsonObject } from "../contract/json.ts";
import { emailKey } from "../contract/text/email.ts";
import { addFree, findPersonalData, PERSONAL_KINDS, type PersonalKind, type PersonalSpan } from "./personal-data.ts";
import { foldName, withoutDisguise } from "./disguises.ts";
import { foldAccents } from "./search.ts";

export type ToShown = (row: JsonObject) => JsonObject;

export interface Masker {
  /**
   * Masks the fields of a response (4.3) that `toShown` keeps. The name to mask comes from the whole row, even if
   * `toShown` drops it.
   */
  row(row: JsonObject, toShown?: ToShown): JsonObject;
  text(text: string): string;
  counts(): ReadonlyMap<PersonalKind, number>;
}

export const MARK = new RegExp(String.raw`\[(${PERSONAL_KINDS.join("|")})-\d+\]`, "gu");

export function createMasker(): Masker {
  const numbers = new Map<PersonalKind, Map<number, number>>();
  const counts = new Map<PersonalKind, number>();
  const mark: Marker = (kind, value) => {
    counts.set(kind, (counts.get(kind) ?? 0) + 1);
    const known = numbers.get(kind) ?? new Map<number, number>();
    numbers.set(kind, known);
    const key = hash53(normalizeValue(kind, withoutDisguise(value)?.text ?? value));
    const number = known.get(key) ?? known.size + 1;
    known.set(key, number);
    return `[${kind}-${number}]`;
  };
  return {
    row: (row, toShown = (all) => all) => maskResponse(toShown(row), { mark, own: ownWords(row) }),
    text: (text) => maskText(text, { mark, own: [] }),
    counts: () => new Map(PERSONAL_KINDS.flatMap((kind) => (counts.has(kind) ? [[kind, counts.get(kind) ?? 0]] : []))),
  };
}

type Marker = (kind: PersonalKind, value: string) => string;

/** A 53-bit hash, so that a million values fit into memory without storing any of them. */
function hash53(text: string): number {
  let [high, low] = [0xdeadbeef, 0x41c6ce57];
  for (let at = 0; at < text.length; at += 1) {
    const unit = text.charCodeAt(at);
    high = Math.imul(high ^ unit, 2_654_435_761);
    low = Math.imul(low ^ unit, 1_597_334_677);
  }
  high = Math.imul(high ^ (high >>> 16), 2_246_822_507) ^ Math.imul(low ^ (low >>> 13), 3_266_489_909);
  low = Math.imul(low ^ (low >>> 16), 2_246_822_507) ^ Math.imul(high ^ (high >>> 13), 3_266_489_909);
  return 4_294_967_296 * (2_097_151 & low) + (high >>> 0);
}

function normalizeValue(kind: PersonalKind, value: string): string {
  if (kind === "email") return emailKey(value);
  if (kind === "url") return value;
  if (kind === "name" || kind === "address") return foldAccents(value).toLowerCase().replace(/\s+/gu, " ").trim();
  return value.replace(/[^\p{L}\p{N}]/gu, "").toUpperCase();
}

interface OwnWord {
  readonly kind: "name" | "address";
  readonly part: string;
  readonly isExact: boolean;
  readonly whole: string;
}

interface MaskContext {
  readonly mark: Marker;
  readonly own: readonly OwnWord[];
}

const STRUCTURE: ReadonlySet<string> = new Set(["id", "survey_type", "type"]);

function maskResponse(row: JsonObject, context: MaskContext): JsonObject {
  return mapFields(row, (value, field) => {
    // Anyone with the link can read and change the answer.
    if (field === "permalink" && typeof value === "string") return context.mark("url", value);
    if (field === "person") return isJsonObject(value) ? maskPerson(value, context) : value;
    if (field === "tags" && Array.isArray(value)) return value.map((tag) => maskTag(tag, context));
    if (field === "person_properties" && isJsonObject(value)) return maskProperties(value, context);
    return maskField(value, field, context);
  });
}

function maskPerson(person: JsonObject, context: MaskContext): JsonObject {
  return mapFields(person, (value, field) =>
    field === "properties" && isJsonObject(value) ? maskProperties(value, context) : maskField(value, field, context),
  );
}

/** Customers choose names as well as values, so both can be personal. `outer` is the enclosing property's name. */
function maskProperties(properties: JsonObject, context: MaskContext, outer = ""): JsonObject {
  return Object.fromEntries(
    Object.entries(properties).map(([name, item]) => [
      maskText(name, context),
      maskProperty(`${outer}${name}`, item, context),
    ]),
  );
}

function maskTag(tag: Json, context: MaskContext): Json {
  if (typeof tag === "string") return maskText(tag, context);
  return isJsonObject(tag) ? mapFields(tag, (value) => maskTag(value, context)) : tag;
}

function mapFields(object: JsonObject, map: (value: Json, field: string) => Json): JsonObject {
  return Object.fromEntries(Object.entries(object).map(([field, value]) => [field, map(value, field)]));
}

function maskField(value: Json, field: string, context: MaskContext): Json {
  return STRUCTURE.has(field) || typeof value === "number" ? value : maskValue(value, field, context);
}

function maskValue(value: Json, field: string, context: MaskContext): Json {
  if (typeof value === "string") {
    const kind = kindOfField(field);
    return kind === null || value.trim() === "" ? maskText(value, context, field) : context.mark(kind, value);
  }
  if (Array.isArray(value)) return value.map((item) => maskValue(item, field, context));
  return isJsonObject(value) ? mapFields(value, (item, name) => maskField(item, name, context)) : value;
}

/** Matches numbers marked by `contract/long-numbers.ts`. */
const LONG_NUMBER = /^\ufdd0(.*)\ufdd0$/su;

function maskProperty(name: string, value: Json, context: MaskContext): Json {
  if (isJsonObject(value)) return maskProperties(value, context, `${name} `);
  if (Array.isArray(value)) return value.map((item) => maskProperty(name, item, context));
  const [, long] = typeof value === "string" ? (LONG_NUMBER.exec(value) ?? []) : [];
  if (typeof value === "number" || long !== undefined) {
    const text = long ?? String(value);
    const masked = maskValue(text, name, context);
    return masked === text ? value : masked;
  }
  return maskValue(value, name, context);
}

const FIELD_KINDS: readonly (readonly [PersonalKind, RegExp])[] = [
  ["email", /(?:^|[^a-z])e[_-]?mail(?:[_-]?address)?$/iu],
  [
    "phone",
    /(?:^|[^a-z])(?:phone|telephone|tel|mobile|cell|fax|msisdn|telefon\w*|handy)(?:[_ -]?(?:number|no|nr))?$/iu,
  ],
  [
    "name",
    /^(?:(?:first|last|full|given|family|middle|maiden|display|user|person|customer|contact)[_ -]?name|name|sur_?name|vorname|nachname)$/iu,
  ],
  [
    "address",
    /(?:^|[^a-z])(?:address\w*|street\w*|stra(?:ß|ss)e|adresse|post_?code|postal_?code|zip(?:_?code)?|plz)$/iu,
  ],
];

const FIELD_CHARS_MAX = 200;

function kindOfField(field: string): PersonalKind | null {
  const plain = field.slice(-FIELD_CHARS_MAX).replace(/([a-z])([A-Z])/gu, "$1_$2");
  return FIELD_KINDS.find(([, pattern]) => pattern.test(plain))?.[0] ?? null;
}

function maskText(text: string, { mark, own }: MaskContext, field = ""): string {
  const spans = addOwnWords(text, own, findPersonalData(text, field));
  let at = 0;
  let masked = "";
  for (const { kind, start, end, whole } of spans) {
    masked += text.slice(at, start) + mark(kind, whole ?? text.slice(start, end));
    at = end;
  }
  return masked + text.slice(at);
}

interface MaskedSpan extends PersonalSpan {
  readonly whole?: string;
}

function addOwnWords(text: string, own: readonly OwnWord[], found: readonly PersonalSpan[]): readonly MaskedSpan[] {
  if (own.length === 0 || text === "") return found;
  const folded = foldName(text);
  return own.reduce<readonly MaskedSpan[]>((all, { kind, whole, ...word }) => {
    const places = findPlaces(word, folded.text);
    return addFree(
      all,
      places.map((index) => ({ ...folded.originalSpan(index, index + word.part.length), kind, whole })),
    );
  }, found);
}

const LETTER = /[\p{L}\p{N}]/u;
const UNSPACED = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Thai}]/u;

function findPlaces({ part, isExact }: Pick<OwnWord, "part" | "isExact">, folded: string): number[] {
  const [text, sought] = isExact ? [folded, part] : [folded.toLowerCase(), part.toLowerCase()];
  const isWord = !UNSPACED.test(part);
  const places: number[] = [];
  for (let at = text.indexOf(sought); at !== -1; at = text.indexOf(sought, at + sought.length)) {
    const isWithin = LETTER.test(text[at - 1] ?? "") || LETTER.test(text[at + sought.length] ?? "");
    if (!isWord || !isWithin) places.push(at);
  }
  return places;
}

/** The person's own words, longest first, so that a full name becomes one mark. */
function ownWords({ person, person_properties: properties }: JsonObject): OwnWord[] {
  const known = isJsonObject(person) ? [person, person["properties"]] : [];
  const texts = [...known, properties].filter(isJsonObject).flatMap((fields) =>
    Object.entries(fields).flatMap(([field, value]) => {
      const kind = kindOfField(field);
      return typeof value === "string" && (kind === "name" || kind === "address") ? [{ kind, value }] : [];
    }),
  );
  const words = texts.flatMap(({ kind, value }): OwnWord[] => {
    const whole = value.trim().replace(/\s+/gu, " ");
    const parts = kind === "name" ? [whole, ...nameParts(whole)] : whole.length >= ADDRESS_MIN ? [whole] : [];
    return parts.map((text) => ({ kind, whole, part: foldName(text).text, isExact: isAmbiguous(text) }));
  });
  return words.toSorted((a, b) => b.part.length - a.part.length);
}

/** A postcode of three characters would match within any number. */
const ADDRESS_MIN = 4;
const PARTICLES = new Set(
  "von van der den de del della di da do dos du la le el al bin ibn ben zu zum mr mrs ms dr".split(" "),
);

function nameParts(name: string): string[] {
  const parts = name.split(/[\s,.]+/u).filter((part) => Array.from(part).length >= 2);
  return parts.filter((part) => part !== name && !PARTICLES.has(part.toLowerCase()));
}

/** Names that are also ordinary words; they count as names only if capitalized. */
const AMBIGUOUS_NAMES = new Set(
  (
    "will may mark grace rose art bill hope joy drew june april august frank rich chase pat sue grant faith dawn summer " +
    "autumn angel guy jack rob iris violet ivy olive daisy ruby pearl amber jade sky max price best love good young " +
    "long short small white black brown green gray cook baker page case day king little may wise strong sharp new"
  ).split(" "),
);

function isAmbiguous(part: string): boolean {
  return part.length < 3 || AMBIGUOUS_NAMES.has(part.toLowerCase());
}
