/**
 * Splits a JSON array into the texts of its elements, which preserves numbers, field order and repeated keys. `text`
 * must be valid JSON.
 */
export function splitRowTexts(text: string): string[] {
  const rows: string[] = [];
  let depth = 0;
  let start = 0;
  const take = (end: number): void => {
    const row = text.slice(start, end).trim();
    if (row !== "") rows.push(row);
    start = end + 1;
  };
  for (let index = 0; index < text.length; index += 1) {
    const char = text.charCodeAt(index);
    if (char === QUOTE) index = findStringEnd(text, index);
    else if (char === OPEN_BRACE || char === OPEN_BRACKET) {
      depth += 1;
      if (depth === 1) start = index + 1;
    } else if (char === CLOSE_BRACE || char === CLOSE_BRACKET) {
      if (depth === 1) take(index);
      depth -= 1;
    } else if (char === COMMA && depth === 1) take(index);
  }
  return rows;
}

const QUOTE = 0x22;
const COMMA = 0x2c;
const BACKSLASH = 0x5c;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;

function findStringEnd(text: string, start: number): number {
  for (let end = text.indexOf('"', start + 1); end !== -1; end = text.indexOf('"', end + 1)) {
    let backslashes = 0;
    while (text.charCodeAt(end - 1 - backslashes) === BACKSLASH) backslashes += 1;
    if (backslashes % 2 === 0) return end;
  }
  return text.length;
}
