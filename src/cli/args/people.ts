import { emailProblem } from "../../contract/text/email.ts";
import { quoteText } from "../../contract/text/invisible.ts";
import { phoneProblem } from "../../contract/text/phone.ts";
import { UsageError } from "../errors/usage-error.ts";
import { badValue } from "./values.ts";

export function parseEmail(text: string, place: string): string {
  const email = text.trim();
  const fault = emailProblem(email);
  if (fault === null) return email;
  throw badValue(place, text, `an e-mail address: it ${fault}`);
}

/** Throws UsageError unless the number is E.164 (section 2). */
export function parsePhone(text: string, place: string): string {
  const phone = text.trim();
  const fault = phoneProblem(phone);
  if (fault === null) return phone;
  throw new UsageError(`${place}: ${quoteText(text)} ${fault}`);
}

export type EmailOrPhone = { readonly email: string } | { readonly phone_number: string };

export function parsePerson(text: string, place: string): EmailOrPhone {
  if (text.includes("@")) return { email: parseEmail(text, place) };
  if (/\d/.test(text)) return { phone_number: parsePhone(text, place) };
  throw badValue(place, text, "an e-mail address such as ann@example.com or a phone number such as +14155550000");
}

export type PersonName = EmailOrPhone | { readonly id: string };

/** A name made only of digits is an id. Throws UsageError. */
export function parsePersonName(text: string, place: string): PersonName {
  const word = text.trim();
  if (/^\d+$/.test(word)) return { id: word };
  if (/[@\d]/.test(word)) return parsePerson(word, place);
  throw badValue(place, text, "an e-mail address, a phone number such as +14155550000, or a person's id");
}
