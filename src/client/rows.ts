/** Each element's own text in a JSON array's text, untouched: numbers, escapes and unknown fields stay as the service wrote them. */

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;

/**
 * `text` is the valid JSON text of one array (a `Page.text`); without surrounding white space each element comes as it stands.
 * One pass that looks only at strings, brackets and commas; nothing is parsed again.
 */
export function splitRows(text: string): string[] {
  const rows: string[] = [];
  let start = text.indexOf("[") + 1;
  let depth = 0;
  for (let at = start; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) at = endOfString(text, at);
    else if (isOpening(code)) depth += 1;
    else if (isClosing(code) && depth > 0) depth -= 1;
    else if ((code === COMMA && depth === 0) || isClosing(code)) {
      const row = text.slice(start, at).trim();
      if (row !== "") rows.push(row);
      start = at + 1;
      if (code !== COMMA) break;
    }
  }
  return rows;
}

/** The index of the quote that ends the string which begins at `at`. */
function endOfString(text: string, at: number): number {
  let end = text.indexOf('"', at + 1);
  while (end !== -1 && isEscaped(text, end)) end = text.indexOf('"', end + 1);
  return end === -1 ? text.length : end;
}

function isEscaped(text: string, at: number): boolean {
  let backslashes = 0;
  while (text.charCodeAt(at - 1 - backslashes) === BACKSLASH) backslashes += 1;
  return backslashes % 2 === 1;
}

/** `[` and `{`, `]` and `}` differ in one bit. */
function isOpening(code: number): boolean {
  return (code | 0x20) === 0x7b;
}

function isClosing(code: number): boolean {
  return (code | 0x20) === 0x7d;
}
