/** Also accepts `9.0`, as spreadsheets and databases write it. Null for other texts. */
export function readWholeNumber(text: string): number | null {
  return /^\s*[+-]?\d+(?:\.0+)?\s*$/.test(text) ? Number(text) : null;
}
