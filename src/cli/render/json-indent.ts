/**
 * JSON for reading: two blanks a level. Only the white space between tokens changes, so numbers, order and repeated
 * keys stay.
 */

export const TOKEN = /"[^"\\]*(?:\\.[^"\\]*)*"|[{}[\],:]|[^\s"{}[\],:]+/gs;
/** Deeper levels are indented no further, so that a text does not grow by the square of its depth. */
const DEEPEST = 40;

/**
 * `text` is valid JSON; every line but the first is indented by `depth` levels. An empty object or array stays on one
 * line.
 */
export function indentJson(text: string, depth: number = 0): string {
  let at = depth;
  let written = "";
  let before = "";
  for (const [token] of text.matchAll(TOKEN)) {
    const isEmpty = isOpen(before) && isClose(token);
    if (isClose(token)) at -= 1;
    if (!isEmpty && (isOpen(before) || before === "," || isClose(token))) written += newLine(at);
    if (isOpen(token)) at += 1;
    written += token === ":" ? ": " : token;
    before = token;
  }
  return written;
}

function isOpen(token: string): boolean {
  return token === "{" || token === "[";
}

function isClose(token: string): boolean {
  return token === "}" || token === "]";
}

function newLine(depth: number): string {
  return `\n${"  ".repeat(Math.min(depth, DEEPEST))}`;
}
