/** Also accepts `9.0`, because spreadsheets and databases write whole numbers like that. Null for other text. */
export function readWholeNumber(text: string): number | null {
  return /^\s*[+-]?\d+(?:\.0+)?\s*$/.test(text) ? Number(text) : null;
}

export function formatCount(count: number): string {
  return String(count).replace(/\B(?=(?:\d{3})+$)/g, ",");
}

export function countOf(count: number, one: string, many = `${one}s`): string {
  return `${formatCount(count)} ${count === 1 ? one : many}`;
}
