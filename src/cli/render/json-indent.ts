export const TOKEN = /"[^"\\]*(?:\\.[^"\\]*)*"|[{}[\],:]|[^\s"{}[\],:]+/gs;
/** Deeper levels aren't indented further, because the text would grow quadratically. */
const DEEPEST = 40;

/** Changes only white space, so that numbers, order and repeated keys stay the same. */
export function indentJson(text: string, depth: number = 0): string {
  let at = depth;
  let written = "";
  let before = "";
  for (const [token] of text.matchAll(TOKEN)) {
    const isEmpty = isOpen(before) && isClose(token);
    if (isClose(token)) at -= 1;
    if (!isEmpty && (isOpen(before) || before === "," || isClose(token)))
      written += `\n${"  ".repeat(Math.min(at, DEEPEST))}`;
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
