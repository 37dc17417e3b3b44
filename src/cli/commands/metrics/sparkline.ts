/** Small pictures of numbers for a terminal. */
const LEVELS = ["▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"] as const;

/** One character a value, lowest to highest; `·` where there is none. */
export function toSparkline(values: readonly (number | null)[]): string {
  const known = values.filter((value) => value !== null);
  const low = Math.min(...known);
  const span = Math.max(...known) - low;
  return values.map((value) => (value === null ? "·" : (LEVELS[levelOf(value - low, span)] ?? ""))).join("");
}

function levelOf(above: number, span: number): number {
  return span === 0 ? 3 : Math.round((above / span) * (LEVELS.length - 1));
}

/** How many of `width` cells each share takes: they add up to `width`, and nobody who is there gets none. */
export function shareCells(counts: readonly number[], width: number): number[] {
  const total = counts.reduce((sum, count) => sum + count, 0);
  if (total === 0) return counts.map(() => 0);
  const cells = counts.map((count) => (count === 0 ? 0 : Math.max(1, Math.round((count / total) * width))));
  const widest = cells.indexOf(Math.max(...cells));
  const excess = cells.reduce((sum, count) => sum + count, 0) - width;
  return cells.map((count, index) => (index === widest ? count - excess : count));
}
