/**
 * The rows of a JSON array as the texts they came as, so that numbers, field order and repeated keys survive.
 * `text` is a valid JSON array (it was parsed before); anything else gives nonsense, never an endless loop.
 */
export function splitRowTexts(text: string): string[] {
  const rows: string[] = [];
  const structure = /"(?:[^"\\]|\\.)*"|[[\]{},]/g;
  let depth = 0;
  let start = 0;
  for (let match = structure.exec(text); match !== null; match = structure.exec(text)) {
    const char = match[0];
    if (char === "[" || char === "{") {
      depth += 1;
      if (depth === 1) start = structure.lastIndex;
      continue;
    }
    const closes = char === "]" || char === "}";
    if (depth === 1 && (char === "," || closes)) {
      const row = text.slice(start, match.index).trim();
      if (row !== "") rows.push(row);
      start = structure.lastIndex;
    }
    if (closes) depth -= 1;
  }
  return rows;
}
