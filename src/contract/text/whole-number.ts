/** The whole number that a text holds, also as `9.0`, which spreadsheets and databases write. Null for other texts. */
export function readWholeNumber(text: string): number | null {
  return /^\s*[+-]?\d+(?:\.0+)?\s*$/.test(text) ? Number(text) : null;
}
