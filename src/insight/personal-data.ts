/** Finds personal data in text by rules. It doesn't recognize names. */
import { withoutDisguise } from "./disguises.ts";
import { endWithout, type Span } from "./search.ts";

export const PERSONAL_KINDS = ["email", "phone", "url", "iban", "card", "ssn", "ip", "name", "address"] as const;
export type PersonalKind = (typeof PERSONAL_KINDS)[number];

export interface PersonalSpan extends Span {
  readonly kind: PersonalKind;
}

/** Spans are in order and don't overlap. `context`, the field's name, tells phone numbers from order numbers. */
export function findPersonalData(text: string, context: string): PersonalSpan[] {
  const plain = withoutDisguise(text);
  if (plain === null) return findUndisguised(text, context);
  return findUndisguised(plain.text, context).map(({ kind, start, end }) => ({
    kind,
    ...plain.originalSpan(start, end),
  }));
}

function findUndisguised(text: string, context: string): PersonalSpan[] {
  let found: readonly PersonalSpan[] = text.includes("://") ? findUrls(text) : [];
  if (text.includes("@")) found = addFree(found, findEmails(text));
  if (/\d\.\d|:[\da-f]*:/iu.test(text)) found = addFree(found, findIpAddresses(text, context));
  if (MANY_DIGITS.test(text))
    for (const find of [findIbans, findCards, findSocialSecurity, findInternationalPhones, findNationalPhones])
      found = addFree(found, find(text, context));
  return [...found];
}

/** Adds the spans of `more` that don't overlap `found`, in order. */
export function addFree<S extends Span>(found: readonly S[], more: readonly S[]): readonly S[] {
  if (more.length === 0) return found;
  let next = 0;
  const free = more.filter(({ start, end }) => {
    while ((found[next]?.end ?? Infinity) <= start) next += 1;
    return (found[next]?.start ?? Infinity) >= end;
  });
  return [...found, ...free].toSorted((a, b) => a.start - b.start);
}

const MANY_DIGITS = /(?:\d[^\d]{0,3}){7}/u;
const EMAIL = /(?<![\p{L}\p{N}._%+'-])[\p{L}\p{N}._%+'-]+@[\p{L}\p{N}-]+(?:\.[\p{L}\p{N}-]+)+/gu;

function findEmails(text: string): PersonalSpan[] {
  return [...text.matchAll(EMAIL)].map(({ 0: found, index }) => {
    const start = index + (found.length - found.replace(/^['.-]+/, "").length);
    return { kind: "email", start, end: index + found.length };
  });
}

const URL_TEXT = /\b(?:https?|ftp):\/\/[^\s<>"'`]+/giu;
const SECRET_PARAMETER =
  /[?&#;](?:[\w.-]*[_.-])?(?:token|key|apikey|sig|signature|auth|code|session|sessionid|sid|secret|passw(?:or)?d|pwd|pass|jwt|otp|hash|ticket|email|mail|uid|user)=[^&#]/iu;

function findUrls(text: string): PersonalSpan[] {
  return [...text.matchAll(URL_TEXT)].flatMap(({ 0: found, index }): PersonalSpan[] => {
    const url = found.slice(0, endWithout(found, found.length, /[.,;:!?)\]}*_]/u));
    return isSecretUrl(url) ? [{ kind: "url", start: index, end: index + url.length }] : [];
  });
}

function isSecretUrl(url: string): boolean {
  const [, authority = "", rest = ""] = /^\w+:\/\/([^/?#]*)(.*)$/su.exec(url) ?? [];
  if (url.includes("@") || authority.includes("%40") || SECRET_PARAMETER.test(rest)) return true;
  return rest.split(/[/?&#=;]/u).some(isRandom);
}

const UUID = /^[\da-f]{8}-(?:[\da-f]{4}-){3}[\da-f]{12}$/iu;

/** Assumes that a word too random to have been typed is a key. */
function isRandom(word: string): boolean {
  if (UUID.test(word)) return true;
  if (word.length >= 20 && /\d/u.test(word) && /[a-z]/u.test(word) && /[A-Z]/u.test(word)) return true;
  return word.split(/[-_.~%+]/u).some((part) => part.length >= 16 && /\d/u.test(part) && /[a-z]/iu.test(part));
}

const IBAN_LENGTHS: ReadonlyMap<string, number> = new Map(
  (
    "AD24 AE23 AL28 AT20 AZ28 BA20 BE16 BG22 BH22 BR29 BY28 CH21 CR22 CY28 CZ24 DE22 DK18 DO28 EE20 EG29 ES24 FI18 " +
    "FO18 FR27 GB22 GE22 GI23 GL18 GR27 GT28 HR21 HU28 IE22 IL23 IQ23 IS26 IT27 JO30 KW30 KZ20 LB28 LC32 LI21 LT20 " +
    "LU20 LV21 MC27 MD24 ME22 MK19 MR27 MT31 MU30 NL18 NO15 PK24 PL28 PS29 PT25 QA29 RO24 RS22 SA24 SC31 SE24 SI19 " +
    "SK24 SM27 ST25 SV28 TL23 TN24 TR26 UA29 VA22 VG24 XK20"
  )
    .split(" ")
    .map((entry) => [entry.slice(0, 2), Number(entry.slice(2))]),
);
const IBAN_START = /(?<![\p{L}\p{N}])([a-z]{2})\d{2}(?=[ -]?[a-z\d])/giu;

function findIbans(text: string): PersonalSpan[] {
  return [...text.matchAll(IBAN_START)].flatMap(({ 1: country = "", index }): PersonalSpan[] => {
    const length = IBAN_LENGTHS.get(country.toUpperCase());
    const end = length === undefined ? null : findRunEnd(text, index, length, /[a-z\d]/iu);
    if (end === null || /[\p{L}\p{N}]/u.test(text[end] ?? "")) return [];
    return isIban(text.slice(index, end)) ? [{ kind: "iban", start: index, end }] : [];
  });
}

/** Returns the end of `count` matching characters with single spaces or hyphens in between; null if there are fewer. */
function findRunEnd(text: string, start: number, count: number, kind: RegExp): number | null {
  let left = count;
  for (let at = start; at < text.length; at += 1) {
    const char = text[at] ?? "";
    if (kind.test(char)) left -= 1;
    else if (!/[ \u00a0-]/u.test(char) || !kind.test(text[at + 1] ?? "")) return null;
    if (left === 0) return at + 1;
  }
  return null;
}

function isIban(text: string): boolean {
  const plain = text.replace(/[^a-z\d]/giu, "").toUpperCase();
  const turned = plain.slice(4) + plain.slice(0, 4);
  let rest = 0;
  for (const char of turned) {
    const value = Number.parseInt(char, 36);
    rest = (rest * (value > 9 ? 100 : 10) + value) % 97;
  }
  return rest === 1;
}

const CARD_SHAPES: readonly (readonly [start: RegExp, lengths: readonly number[]])[] = [
  [/^4/, [19, 16, 13]],
  [/^(?:5[1-5]|2[2-7])/, [16]],
  [/^3[47]/, [15]],
  [/^3[0689]/, [14]],
  [/^35/, [16]],
  [/^6/, [19, 16]],
];
const CARD_START = /(?<![\p{L}\d+]|\d[.,-])[2-6](?=(?:[ \u00a0-]?\d){12})/gu;

function findCards(text: string): PersonalSpan[] {
  return [...text.matchAll(CARD_START)].flatMap(({ index }): PersonalSpan[] => {
    const first = text.slice(index, index + 3).replace(/\D/gu, "");
    const lengths = CARD_SHAPES.filter(([start]) => start.test(first)).flatMap(([, each]) => each);
    for (const length of lengths) {
      const end = findRunEnd(text, index, length, /\d/u);
      if (end === null || /[\p{L}\d]/u.test(text[end] ?? "")) continue;
      if (isLuhn(text.slice(index, end).replace(/\D/gu, ""))) return [{ kind: "card", start: index, end }];
    }
    return [];
  });
}

function isLuhn(digits: string): boolean {
  const sum = Array.from(digits)
    .toReversed()
    .map((digit, place) => (place % 2 === 0 ? Number(digit) : Number(digit) * 2))
    .reduce((total, value) => total + (value > 9 ? value - 9 : value), 0);
  return sum % 10 === 0;
}

const SOCIAL_SECURITY = /(?<![\p{L}\p{N}-])\d{3}[-‑–]\d\d[-‑–]\d{4}(?![\p{L}\p{N}]|-\d)/gu;

function findSocialSecurity(text: string): PersonalSpan[] {
  return matchSpans("ssn", text, SOCIAL_SECURITY);
}

function matchSpans(kind: PersonalKind, text: string, pattern: RegExp): PersonalSpan[] {
  return [...text.matchAll(pattern)].map(({ 0: found, index }) => ({ kind, start: index, end: index + found.length }));
}

const OCTET = String.raw`(?:25[0-5]|2[0-4]\d|1?\d?\d)`;
const IPV4 = new RegExp(String.raw`(?<![\p{L}\p{N}.])(?:${OCTET}\.){3}${OCTET}(?!\d|\.\d)`, "gu");
const HEX_RUN = /[\da-f:.]{6,60}/giu;
const VERSION = /(?:^|[^\p{L}])(?:v|ver|version|build|release|firmware|app|browser|chrome|edge|opera)[\s.:=/_-]*$/iu;

function findIpAddresses(text: string, context: string): readonly PersonalSpan[] {
  const found = matchSpans("ip", text, IPV4).filter(({ start }) => !VERSION.test(textBefore(text, start, context)));
  return addFree(findIpv6(text), found);
}

/** The URL parser tells addresses from times of day. */
function findIpv6(text: string): PersonalSpan[] {
  return [...text.matchAll(HEX_RUN)].flatMap(({ 0: run, index }): PersonalSpan[] => {
    const [before = ""] = /^:(?!:)/.exec(run) ?? [];
    const [start, end] = [index + before.length, index + endWithout(run, run.length, /[.:]/u)];
    const isWithin = /[\p{L}\p{N}]/u.test((text[start - 1] ?? "") + (text[end] ?? ""));
    const found = text.slice(start, end);
    const isAddress = !isWithin && /:.*:/.test(found) && /\d/.test(found) && URL.canParse(`http://[${found}]`);
    return isAddress && found.length >= IPV6_MIN ? [{ kind: "ip", start, end }] : [];
  });
}

/** `a::1` is more often code than an address. */
const IPV6_MIN = 6;

const GAP = String.raw`[ \u00a0().\/‑–-]{0,3}`;
const INTERNATIONAL = new RegExp(
  String.raw`(?<![\p{L}\p{N}+])\+(?:\d{7,15}(?!\d)|[1-9](?:${GAP}\d){6,14}(?!\d))`,
  "gu",
);
const NATIONAL = new RegExp(
  String.raw`(?<![\p{L}\p{N}_#@+$€£¥]|\d[.,\/‑–-]|[\p{L}][-_])\(?\d(?:${GAP}\d){6,14}(?![\p{L}\p{N}_%€£¥]|[.,\/-]\d)`,
  "uy",
);

function findInternationalPhones(text: string): PersonalSpan[] {
  return [...text.matchAll(INTERNATIONAL)].flatMap(({ 0: found, index }): PersonalSpan[] => {
    const phone = withPairedBrackets(found);
    return phone === null ? [] : [{ kind: "phone", start: index, end: index + phone.length }];
  });
}

/** Cuts at an unpaired bracket, which belongs to the surrounding sentence; null if nothing is left. */
function withPairedBrackets(run: string): string | null {
  const open: number[] = [];
  let end = run.length;
  for (let at = 0; at < end; at += 1)
    if (run[at] === "(") open.push(at);
    else if (run[at] === ")" && open.pop() === undefined) end = at;
  const paired = run.slice(0, Math.min(end, open[0] ?? end));
  const phone = paired.slice(0, endWithout(paired, paired.length, /\D/u));
  return phone.replace(/\D/gu, "").length < DIGITS_MIN ? null : phone;
}

const DIGITS_MIN = 7;

function findNationalPhones(text: string, context: string): PersonalSpan[] {
  const found: PersonalSpan[] = [];
  for (let at = nextStart(text, 0); at !== -1; at = nextStart(text, at)) {
    NATIONAL.lastIndex = at;
    const [match = ""] = NATIONAL.exec(text) ?? [];
    const run = withPairedBrackets(match);
    if (run === null) {
      at += 1;
      continue;
    }
    const before = textBefore(text, at, context);
    const length = phoneLength(run, before);
    if (length !== null) found.push({ kind: "phone", start: at, end: at + length });
    // A later part of a run can still be a phone number.
    at += length ?? notPhoneLength(run, before);
  }
  return found;
}

function textBefore(text: string, at: number, context: string): string {
  return `${context.slice(-BEFORE_CHARS)} ${text.slice(Math.max(0, at - BEFORE_CHARS), at)}`;
}

function nextStart(text: string, from: number): number {
  START.lastIndex = from;
  return START.exec(text)?.index ?? -1;
}

const START = /[\d(]/gu;
const BEFORE_CHARS = 40;
const NOT_A_PHONE =
  /(?:^|[^\p{L}])(?:orders?|invoices?|tickets?|cases?|ref|reference|bookings?|reservation|tracking|parcel|shipment|serial|account|customer|contract|claim|policy|sku|isbn|ean|version|build|article|item|product|model|receipt|transaction|bestell\p{L}*|rechnung\p{L}*|auftrag\p{L}*|vorgang\p{L}*|kunden\p{L}*|artikel\p{L}*|liefer\p{L}*|commande|facture|pedido|factura|ordine|id)(?:[\s.:,#_/(-]|no|nr|number|num|id|is|was|num[eé]ro)*$/iu;
const CALL =
  /(?:^|[^\p{L}])(?:call|called|phone|phoned|tel|telephone|telefon\p{L}*|mobile|mobil\p{L}*|cell|cellphone|handy\p{L}*|whatsapp|signal|fax|sms|text|ring|dial|reach|hotline|my number|anruf\p{L}*|ruf\p{L}*|rückruf\p{L}*|t[eé]l[eé]phone|m[oó]vil|tel[eé]fono|portable|numero)(?:[^\p{L}\d]|me|us|at|on|under|is|number|no|nr|back|please|unter|an|mich|au|al|it|my|at)*$/iu;
const DATE = /^(?:(?:19|20)\d\d([-./])\d{1,2}\1\d{1,2}|\d{1,2}([-./])\d{1,2}\2(?:\d{4}|\d{2}))(?=$|[ \u00a0])/u;

function phoneLength(run: string, before: string): number | null {
  if (NOT_A_PHONE.test(before) || DATE.test(run)) return null;
  const phone = CALL.test(before) ? run : upTo(run, NATIONAL_DIGITS_MAX);
  return CALL.test(before) || SHAPES.some((shape) => shape.test(phone)) ? phone.length : null;
}

const NATIONAL_DIGITS_MAX = 12;

/** Drops the last groups of a run that is too long: `030 1234567 10 times`. */
function upTo(run: string, digitsMax: number): string {
  let kept = run;
  while (kept.replace(/\D/gu, "").length > digitsMax && /[ \u00a0]/u.test(kept))
    kept = kept.replace(/[ \u00a0(]+[^ \u00a0]*$/u, "");
  return kept;
}

/** Formats of phone numbers. A bare run of digits is usually something else. */
const SHAPES: readonly RegExp[] = [
  // With a trunk prefix: 030 1234567, 0151-23456789, (089) 1234567, 06.12.34.56.78, 0049 30 123456.
  /^\(?0(?:0[1-9]|[1-9])(?!\d?[.,]\d+$)[\d ()./\u00a0‑–-]{5,}$/u,
  /^\(\d{2,5}\)/u,
  // North America: 415-555-0101, 1-800-555-0199, 4155550101, 555-0101.
  /^(?:1[ .‑–-])?[2-9]\d\d[ .‑–-]\d{3}[ .‑–-]\d{4}$/u,
  /^[2-9]\d\d[2-9]\d{6}$/u,
  /^\d{3}[.‑–-]\d{4}$/u,
  // Nine digits in groups of three: 612 345 678.
  /^[6-9]\d\d([ -])\d{3}\1(?!000)\d{3}$/u,
];

function notPhoneLength(run: string, before: string): number {
  if (NOT_A_PHONE.test(before)) return run.length;
  return (DATE.exec(run)?.[0] ?? /^\(?\d+/u.exec(run)?.[0] ?? run).length;
}
