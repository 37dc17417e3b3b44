/** Finds the most similar candidate. At most a third of the letters may differ, and no more than `most`. */
export function suggest(word: string, candidates: readonly string[], most: number = Infinity): string | null {
  const typed = toName(word);
  const tolerated = (name: string): number => Math.min(most, Math.floor(Math.max(typed.length, name.length) / 3));
  const [best] = candidates
    .map((candidate) => ({ candidate, name: toName(candidate) }))
    // The distance is at least the difference in length, so clearly hopeless candidates skip the slow comparison.
    .filter(({ name }) => Math.abs(name.length - typed.length) <= tolerated(name))
    .map(({ candidate, name }) => ({ candidate, name, distance: editDistance(typed, name) }))
    .toSorted((a, b) => a.distance - b.distance);
  return best !== undefined && best.distance <= tolerated(best.name) ? best.candidate : null;
}

function toName(word: string): string {
  return word.toLowerCase().replace(/^--?/, "");
}

/** Counts insertions, deletions, replacements and swaps of neighbors. */
function editDistance(from: string, to: string): number {
  const rows = [Array.from({ length: to.length + 1 }, (_, column) => column)];
  for (let row = 1; row <= from.length; row += 1) {
    const current = [row];
    for (let column = 1; column <= to.length; column += 1) current.push(cost(rows, current, from, to, row, column));
    rows.push(current);
  }
  return rows.at(-1)?.at(-1) ?? 0;
}

function cost(rows: number[][], current: number[], from: string, to: string, row: number, column: number): number {
  const replaced = at(rows[row - 1], column - 1) + (from[row - 1] === to[column - 1] ? 0 : 1);
  const swapped =
    from[row - 1] === to[column - 2] && from[row - 2] === to[column - 1] ? at(rows[row - 2], column - 2) + 1 : Infinity;
  return Math.min(at(current, column - 1) + 1, at(rows[row - 1], column) + 1, replaced, swapped);
}

function at(line: readonly number[] | undefined, index: number): number {
  return line?.[index] ?? Infinity;
}
