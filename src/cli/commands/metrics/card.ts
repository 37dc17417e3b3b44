import { changeVerdict, countAnswers, FEW_ANSWERS, scoreChange, scoreInterval } from "../../../insight/interval.ts";
import type { JsonObject } from "../../../contract/json.ts";
import { unixSeconds } from "../../../runtime/clock.ts";
import type { TimeFilter } from "../../kit/time-flags.ts";
import { countOf, formatCount } from "../../../contract/text/whole-number.ts";
import { createPaint, type Paint, toneOfScore, toPercent, type Tone } from "../../render/human.ts";
import type { RenderContext } from "../../render/columns.ts";
import { toSafeText } from "../../render/safe-text.ts";
import { describeRange } from "../shared/ranges.ts";
import { countsOf, isSureChange } from "./statistics.ts";

export interface CardFacts {
  readonly metrics: JsonObject;
  readonly range: TimeFilter;
  readonly isAllTime: boolean;
  readonly trend: string | null;
  readonly chosen: string | null;
  readonly confidence: number;
  readonly before: { readonly metrics: JsonObject; readonly range: TimeFilter } | null;
}

export function drawCard(context: RenderContext, facts: CardFacts): string {
  const paint = createPaint(context.options.color);
  const changes = facts.before === null ? [] : [changeLine(context, facts, facts.before.metrics, paint)];
  const against = facts.before === null ? [] : [`against ${rangeText(context, facts.before.range)}`];
  const text = [scoreLine(context, facts, paint), ...changes, rangeLine(context, facts), ...against];
  const { nps } = facts.metrics;
  const digits = context.options.unicode ? toLargeDigits(typeof nps === "number" ? String(nps) : "-") : [];
  const width = digits[0]?.length ?? 0;
  const rows = Array.from({ length: Math.max(digits.length, text.length) }, (_, at) => {
    const digit = digits[at] ?? " ".repeat(width);
    const gap = width === 0 ? "" : "   ";
    return `${paint.tone(digit, toneOfScore(nps))}${gap}${text[at] ?? ""}`.trimEnd();
  });
  return [...rows, "", ...barLines(context, facts, paint)].map((line) => `${line}\n`).join("");
}

function scoreLine({ options }: RenderContext, { metrics, confidence }: CardFacts, paint: Paint): string {
  const { nps } = metrics;
  if (typeof nps !== "number") return `NPS ${options.unicode ? "–" : "-"}  no responses`;
  return `NPS ${paint.tone(String(nps), toneOfScore(nps))}${intervalText(options, metrics, confidence)}`;
}

/** Returns `  (29 … 67, 95%, n 51)`; empty if there are no counts. */
export function intervalText(options: RenderContext["options"], metrics: JsonObject, confidence: number): string {
  const counts = countsOf(metrics);
  const interval = counts === null ? null : scoreInterval(counts, confidence);
  if (counts === null || interval === null) return "";
  const answers = countAnswers(counts);
  const few = answers < FEW_ANSWERS ? ": too few to say" : "";
  const ends = `${Math.round(interval.low)} ${dots(options)} ${Math.round(interval.high)}`;
  return `  (${ends}, ${toPercent(confidence)}, n ${formatCount(answers)}${few})`;
}

function changeLine({ options }: RenderContext, facts: CardFacts, before: JsonObject, paint: Paint): string {
  const { metrics, confidence } = facts;
  const [now, then] = [metrics["nps"], before["nps"]];
  if (typeof now !== "number" || typeof then !== "number") return `CHANGE ${options.unicode ? "–" : "-"}  no responses`;
  const [counts, countsBefore] = [countsOf(metrics), countsOf(before)];
  const change = counts === null || countsBefore === null ? null : scoreChange(countsBefore, counts, confidence);
  // Prefers the change of the adjusted score to that of the raw one, because it is at the center of the interval.
  const points = Math.round(change?.change ?? now - then);
  if (counts === null || countsBefore === null || change === null) return `CHANGE ${signed(points)}`;
  const found = changeVerdict(countsBefore, counts, confidence);
  const line = `CHANGE ${paint.tone(signed(points), isSureChange({ verdict: found }) ? toneOfScore(points) : "plain")}`;
  const ends = `${signed(change.low)} ${dots(options)} ${signed(change.high)}`;
  return `${line}  (${ends}, ${toPercent(confidence)}: ${found === "too few" ? "too few to say" : found})`;
}

function rangeLine(context: RenderContext, { metrics, range, isAllTime, trend, chosen }: CardFacts): string {
  const count = metrics["response_count"];
  const isOpen = range.since === null && range.until === null;
  return [
    isOpen && !isAllTime ? "the service's default range" : rangeText(context, range),
    ...(trend === null ? [] : [`trend ${trend}`]),
    ...(chosen === null ? [] : [toSafeText(chosen)]),
    ...(typeof count === "number" ? [countOf(count, "response")] : []),
  ].join(", ");
}

function rangeText({ options, clock }: RenderContext, range: TimeFilter): string {
  return describeRange(range, { zone: options.timeZone, now: unixSeconds(clock), unicode: options.unicode });
}

const BAR_MAX = 40;
const PARTS: readonly (readonly [string, string, Tone])[] = [
  ["promoter", "promoters", "good"],
  ["passive", "passives", "middling"],
  ["detractor", "detractors", "bad"],
];

function barLines({ streams, options }: RenderContext, { metrics, before }: CardFacts, paint: Paint): string[] {
  const counts = countsOf(metrics);
  const all = counts === null ? 0 : countAnswers(counts);
  if (counts === null || all === 0) return [];
  const rows = PARTS.map(([name, label, tone]) => {
    const count = Number(metrics[`${name}_count`]);
    const percent = metrics[`${name}_percent`];
    const shown = typeof percent === "number" ? percent : Math.round((100 * count) / all);
    const then = before?.metrics[`${name}_percent`];
    return {
      label: label.padEnd(10),
      tone,
      share: count / all,
      percent: `${shown}%`.padStart(6),
      count: formatCount(count),
      change: typeof then === "number" ? signed(shown - then) : "",
    };
  });
  const countWidth = Math.max(...rows.map(({ count }) => count.length));
  const changes = before === null ? 0 : CHANGE.length + 2;
  const room = Math.max(Math.min(BAR_MAX, streams.out.columns - 10 - 2 - 6 - 2 - countWidth - changes - 2), 5);
  const lines = rows.map(({ label, tone, share, percent, count, change }) => {
    const cells = share === 0 ? 0 : Math.max(1, Math.round(share * room));
    const bar = (options.unicode ? "█" : "#").repeat(cells);
    const end = before === null ? "" : `  ${change.padStart(CHANGE.length)}`;
    return `${label}  ${paint.tone(bar, tone)}${" ".repeat(room - cells)}${percent}  ${count.padStart(countWidth)}${end}`;
  });
  const heading = " ".repeat(10 + 2 + room + 6 + 2 + countWidth + 2) + paint.heading(CHANGE);
  return before === null ? lines : [heading, ...lines];
}

const CHANGE = "CHANGE";

function signed(value: number): string {
  const whole = Math.round(value);
  return whole > 0 ? `+${whole}` : String(whole);
}

function dots({ unicode }: RenderContext["options"]): string {
  return unicode ? "…" : "...";
}

const DIGITS: Readonly<Record<string, readonly [string, string, string]>> = {
  "0": ["█▀█", "█ █", "▀▀▀"],
  "1": ["▀█ ", " █ ", "▀▀▀"],
  "2": ["▀▀█", "█▀▀", "▀▀▀"],
  "3": ["▀▀█", " ▀█", "▀▀▀"],
  "4": ["█ █", "▀▀█", "  ▀"],
  "5": ["█▀▀", "▀▀█", "▀▀▀"],
  "6": ["█▀▀", "█▀█", "▀▀▀"],
  "7": ["▀▀█", "  █", "  ▀"],
  "8": ["█▀█", "█▀█", "▀▀▀"],
  "9": ["█▀█", "▀▀█", "▀▀▀"],
  "-": ["   ", "▀▀▀", "   "],
};

function toLargeDigits(text: string): string[] {
  const digits = Array.from(text, (character) => DIGITS[character]);
  if (digits.includes(undefined)) return [];
  return [0, 1, 2].map((line) => digits.map((digit) => digit?.[line] ?? "").join(" "));
}
