import { isEmail } from "../../contract/email.ts";
import { isE164 } from "../../contract/phone.ts";
import { badValue } from "./values.ts";

/** An e-mail address by its form. Throws UsageError. */
export function parseEmail(text: string, place: string): string {
  const email = text.trim();
  if (isEmail(email)) return email;
  throw badValue(place, text, "an e-mail address such as ann@example.com");
}

/** A country code and the shortest numbers behind it: fewer digits are more likely a number of some country. */
const INTERNATIONAL_DIGITS_MIN = 11;

/** E.164, section 2. Throws UsageError; says so when only punctuation, the `+` or the country code is in the way. */
export function parsePhone(text: string, place: string): string {
  const phone = text.trim();
  if (isE164(phone)) return phone;
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

/** A person by the one of two names, as the list of people takes it (4.1). */
export type EmailOrPhone = { readonly email: string } | { readonly phone_number: string };

/** The operand of `people get` and `people update`: an address or a number. Throws UsageError. */
export function parsePerson(text: string, place: string): EmailOrPhone {
  if (text.includes("@")) return { email: parseEmail(text, place) };
  if (/\d/.test(text)) return { phone_number: parsePhone(text, place) };
  throw badValue(place, text, "an e-mail address such as ann@example.com or a phone number such as +14155550000");
}
