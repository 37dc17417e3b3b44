import { type NamedPeriod, readLabel } from "../../runtime/calendar/periods.ts";

const MONTHS = "January February March April May June July August September October November December".split(" ");
const LABEL = /\b\d{4}-(?:Q[1-4]|W\d{2}|\d{2}(?:-\d{2})?)\b/g;

/**
 * Spells the dates and periods in a text: `2026-05-31` becomes 31 May 2026, `2026-W05` week of 26 Jan 2026, and
 * `2026-05-01 – 2026-05-31` 1 May – 31 May 2026.
 */
export function spellDates(text: string): string {
  const spelled = text.replace(LABEL, (label) => {
    const period = readLabel(label);
    return period === null ? label : spell(period);
  });
  return spelled.replace(/^(.+) – \1$/, "$1").replace(/ (\d{4})( – .* \1)$/, "$2");
}

function spell(period: NamedPeriod): string {
  const { unit, start } = period;
  if (unit === "month") return `${MONTHS[start.month - 1]} ${start.year}`;
  return `${unit === "week" ? "week of " : ""}${shortName(period)} ${start.year}`;
}

function shortName({ unit, start: { year, month, day } }: NamedPeriod): string {
  const name = (MONTHS[month - 1] ?? "").slice(0, 3);
  if (unit === "month") return name;
  if (unit === "quarter") return `Q${(month + 2) / 3}`;
  return unit === "year" ? String(year) : `${day} ${name}`;
}

/** Names below a chart, with the year if there are several years: `May` or `May ’26`. */
export function axisNames(labels: readonly string[]): string[] {
  const periods = labels.map((label) => readLabel(label));
  const names = periods.map((period, index) => (period === null ? (labels[index] ?? "") : shortName(period)));
  if (new Set(names).size === names.length) return names;
  return names.map((name, index) => `${name} ’${String(periods[index]?.start.year).slice(2)}`);
}
