/** Reads a whole number, also when written as `9.0`, as spreadsheets and databases do. Null for any other text. */
export function readWholeNumber(text: string): number | null {
  return /^\s*[+-]?\d+(?:\.0+)?\s*$/.test(text) ? Number(text) : null;
}

export function formatCount(count: number): string {
  return String(count).replace(/\B(?=(?:\d{3})+$)/g, ",");
}

export function countOf(count: number, one: string, many = `${one}s`): string {
  return `${formatCount(count)} ${count === 1 ? one : many}`;
}
