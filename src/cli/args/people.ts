import { isEmail } from "../../contract/text/email.ts";
import { describeInvisible, quoteText } from "../../contract/text/invisible.ts";
import { isE164 } from "../../contract/text/phone.ts";
import { UsageError } from "../errors/usage-error.ts";
import { badValue } from "./values.ts";

/** An e-mail address by its form. Throws UsageError. */
export function parseEmail(text: string, place: string): string {
  const email = text.trim();
  if (isEmail(email)) return email;
  refuseInvisible(email, place);
  throw badValue(place, text, "an e-mail address such as ann@example.com");
}

/** A copied address may hold characters that no terminal shows: the error names them. */
function refuseInvisible(text: string, place: string): void {
  const invisible = describeInvisible(text);
  if (invisible === null) return;
  throw new UsageError(`${place}: ${quoteText(text)} contains ${invisible}`, {
    hint: "type it by hand: the character came with a copy",
  });
}

/** A country code and the shortest numbers behind it: fewer digits are more likely a number of some country. */
const INTERNATIONAL_DIGITS_MIN = 11;

/** E.164, section 2. Throws UsageError, with a hint where only punctuation, the `+` or the country code is wrong. */
export function parsePhone(text: string, place: string): string {
  const phone = text.trim();
  if (isE164(phone)) return phone;
  refuseInvisible(phone, place);
  const digits = phone.replace(/[\s().\-/]/g, "");
  throw badValue(
    place,
    text,
    "E.164: a leading +, the country code, then the number, as in +14155550000",
    phoneHint(digits),
  );
}

function phoneHint(digits: string): string | undefined {
  if (isE164(digits)) return `did you mean ${digits}?`;
  const isNational = digits.startsWith("0") || digits.length < INTERNATIONAL_DIGITS_MIN;
  if (!isNational && isE164(`+${digits}`)) return `did you mean +${digits}?`;
  return /^\d{6,}$/.test(digits) ? "add + and the country code, such as +1 for the United States" : undefined;
}

/** A person by e-mail address or phone number, as the list of people takes them (4.1). */
export type EmailOrPhone = { readonly email: string } | { readonly phone_number: string };

/** The operand of `people get` and `people update`: an address or a number. Throws UsageError. */
export function parsePerson(text: string, place: string): EmailOrPhone {
  if (text.includes("@")) return { email: parseEmail(text, place) };
  if (/\d/.test(text)) return { phone_number: parsePhone(text, place) };
  throw badValue(place, text, "an e-mail address such as ann@example.com or a phone number such as +14155550000");
}

/** A person by what a path of the API may name them with: an address, a number or an id. */
export type PersonName = EmailOrPhone | { readonly id: string };

/** An operand, or a line of a file: digits alone are an id. Throws UsageError. */
export function parsePersonName(text: string, place: string): PersonName {
  const word = text.trim();
  if (/^\d+$/.test(word)) return { id: word };
  if (/[@\d]/.test(word)) return parsePerson(word, place);
  throw badValue(place, text, "an e-mail address, a phone number such as +14155550000, or a person's id");
}
