import { describeInvisible } from "./invisible.ts";

export const E164 = /^\+[1-9]\d{6,14}$/;

export function isE164(value: string): boolean {
  return E164.test(value);
}

/** Common ways to write a number, their replacements, and how messages describe them. */
const ADDITIONS: readonly (readonly [pattern: RegExp, replacement: string, difference: string])[] = [
  [/(?<=^\+?\d{8,})\.0+$/, "", "without the decimals that a spreadsheet added"],
  [/\s*(?:x|ext\.?|#)\s*\d+$/i, "", "without the extension"],
  [/\(0\)/, "", "without the (0), which is dialled within the country only"],
  [/^00(?=[1-9])/, "+", "for the leading 00"],
  // Only for eleven digits or more: some national numbers begin with 011.
  [/^011(?=(?:\D*\d){11})/, "+", "for the leading 011"],
];

/** Ambiguous: decimals, `(0)` twice, or a second number or extension after a slash. */
const AMBIGUOUS = /^\+?\d{8,}\.\d*[1-9]|\(0\).*\(0\)|\/\D*(?:\d\D*){0,4}$/;

const NOT_E164 = "is not E.164: a leading +, the country code, then the number, as in +14155550000";

/** What is wrong with a number, phrased to follow it; null if valid. Suggests a correction only if that is valid. */
export function phoneProblem(text: string): string | null {
  if (isE164(text)) return null;
  const invisible = describeInvisible(text);
  if (invisible !== null) return `is not E.164: it contains ${invisible}`;
  if (AMBIGUOUS.test(text)) return NOT_E164;
  const differences: string[] = [];
  let number = text;
  for (const [pattern, replacement, difference] of ADDITIONS) {
    if (!pattern.test(number)) continue;
    number = number.replace(pattern, replacement);
    differences.push(difference);
  }
  if (/^\+\d{1,3}[\s().\-/]+0/.test(number))
    return "is not E.164: a 0 follows the country code; leave it out, except where it is dialled from abroad (Italy)";
  number = number.replaceAll(/[\s().\-/\u2011]/g, "");
  if (isE164(number))
    return differences.length === 0
      ? `is not E.164: only + and digits; write ${number}`
      : `is not E.164: write ${number} ${differences.join(", ")}`;
  // Ten digits are probably a number without its country code.
  if (/^[1-9]\d{10,14}$/.test(number))
    return `is not E.164: the leading + is missing (spreadsheets drop it); did you mean +${number}?`;
  if (number.startsWith("0"))
    return "is not E.164: a national number; put + and the country code in front, without the leading 0";
  return NOT_E164;
}
