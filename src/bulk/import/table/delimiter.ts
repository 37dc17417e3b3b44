export const DELIMITERS = [",", ";", "\t", "|"] as const;

/** The character that separates most fields of the first line that is not blank, quoted text left aside; a comma when none does. */
export function findDelimiter(text: string): string {
  const counts = new Map<string, number>();
  let quoted = false;
  for (const char of text.replace(/^[\r\n]+/, "")) {
    if (char === '"') quoted = !quoted;
    else if (!quoted && (char === "\n" || char === "\r")) break;
    else if (!quoted && (DELIMITERS as readonly string[]).includes(char)) counts.set(char, (counts.get(char) ?? 0) + 1);
  }
  const [best] = [...counts].sort(([, left], [, right]) => right - left);
  return best?.[0] ?? ",";
}
