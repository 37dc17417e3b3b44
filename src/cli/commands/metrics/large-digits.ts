/** Digits of three lines, made of half blocks. */
const DIGITS: Readonly<Record<string, readonly [string, string, string]>> = {
  "0": ["█▀█", "█ █", "▀▀▀"],
  "1": ["▀█ ", " █ ", "▀▀▀"],
  "2": ["▀▀█", "█▀▀", "▀▀▀"],
  "3": ["▀▀█", " ▀█", "▀▀▀"],
  "4": ["█ █", "▀▀█", "  ▀"],
  "5": ["█▀▀", "▀▀█", "▀▀▀"],
  "6": ["█▀▀", "█▀█", "▀▀▀"],
  "7": ["▀▀█", "  █", "  ▀"],
  "8": ["█▀█", "█▀█", "▀▀▀"],
  "9": ["█▀█", "▀▀█", "▀▀▀"],
  "-": ["   ", "▀▀▀", "   "],
};

/** A whole number, or `-` where there is none; nothing for a text that has other characters. */
export function toLargeDigits(text: string): string[] {
  const digits = Array.from(text, (character) => DIGITS[character]);
  if (digits.includes(undefined)) return [];
  return [0, 1, 2].map((line) => digits.map((digit) => digit?.[line] ?? "").join(" "));
}
