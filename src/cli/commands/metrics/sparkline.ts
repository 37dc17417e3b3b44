/** A small picture of numbers for a terminal. */
const LEVELS = ["▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"] as const;
const ASCII_LEVELS = ["_", ".", "-", ":", "=", "+", "x", "#"] as const;

/** One character a value, lowest to highest; `·` where there is none. `unicode` false draws in ASCII. */
export function toSparkline(values: readonly (number | null)[], unicode: boolean = true): string {
  const known = values.filter((value) => value !== null);
  const low = Math.min(...known);
  const span = Math.max(...known) - low;
  const levels = unicode ? LEVELS : ASCII_LEVELS;
  const none = unicode ? "·" : " ";
  return values.map((value) => (value === null ? none : (levels[levelOf(value - low, span)] ?? ""))).join("");
}

function levelOf(above: number, span: number): number {
  return span === 0 ? 3 : Math.round((above / span) * (LEVELS.length - 1));
}
