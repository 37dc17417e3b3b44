const DELIMITERS = [",", ";", "\t", "|"] as const;

/** The character that separates most fields of the first record, quoted text left aside; a comma when none does. */
export function findDelimiter(text: string): string {
  const counts = new Map<string, number>();
  let quoted = false;
  for (const char of text) {
    if (char === '"') quoted = !quoted;
    else if (!quoted && (char === "\n" || char === "\r") && counts.size > 0) break;
    else if (!quoted && (DELIMITERS as readonly string[]).includes(char)) counts.set(char, (counts.get(char) ?? 0) + 1);
    else if (!quoted && (char === "\n" || char === "\r") && text.indexOf(char) > 0) break;
  }
  const [best] = [...counts].sort(([, left], [, right]) => right - left);
  return best?.[0] ?? ",";
}
