/** Stderr for machines, under `-o json|ndjson`: one JSON object a line, told apart by its only key. */

/**
 * Each line of prose becomes `{"note":"…"}`, or `{"warning":"…"}` where it is one; what is a JSON object already (an error,
 * a log line) stays as it is. Empty lines are left out.
 */
export function toJsonLines(text: string): string {
  return text
    .split("\n")
    .filter((line) => line.trim() !== "")
    .map((line) => `${isJsonObjectText(line) ? line : wrap(line.trim())}\n`)
    .join("");
}

function wrap(line: string): string {
  const [, key = "note", message = line] = /^(note|warning): (.*)$/s.exec(line) ?? [];
  return JSON.stringify({ [key]: message });
}

function isJsonObjectText(line: string): boolean {
  if (!line.startsWith("{") || !line.endsWith("}")) return false;
  try {
    JSON.parse(line);
    return true;
  } catch {
    return false;
  }
}
