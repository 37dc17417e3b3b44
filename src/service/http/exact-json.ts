const TOKENS = /"[^"\\]*(?:\\.[^"\\]*)*"|-?\d[\d.eE+-]*/g;

/**
 * As `JSON.parse`, but a whole number with more digits than a JavaScript number keeps is its text: the id of an order
 * in a property would become another one.
 */
export function parseExactly(text: string): unknown {
  const value: unknown = JSON.parse(text);
  return /\d{16}/.test(text) ? JSON.parse(text.replace(TOKENS, quoteLong)) : value;
}

function quoteLong(token: string): string {
  return /^-?\d+$/.test(token) && !Number.isSafeInteger(Number(token)) ? `"${token}"` : token;
}
