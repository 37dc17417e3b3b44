export function pastedMark(text: string): string | null {
  if (/^["'`“”‘’]|["'`“”‘’]$/.test(text)) return "has quotes around it";
  if (/\\[rn]$/.test(text)) return "ends with a line end, written as \\n";
  const [, scheme] = /^(bearer|basic)\s/i.exec(text) ?? [];
  return scheme === undefined ? null : `begins with "${scheme}"`;
}

export function keyProblem(key: string): string | null {
  const isKey = /^[\x21-\x39\x3b-\x7e]+$/.test(key);
  return pastedMark(key) ?? (isKey ? null : "is not one line of visible ASCII characters without a colon");
}
