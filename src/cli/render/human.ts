import { Chalk } from "chalk";
import { TOKEN } from "./json-indent.ts";
import { isJsonObject, type Json, type JsonObject } from "../../contract/json.ts";
import { scoreCategory } from "../../contract/limits.ts";
import { toCellText, toChange, toPoints, type Column } from "./columns.ts";
import { toSafeCell } from "./safe-text.ts";
import type { TimeFormatter } from "./time.ts";

/** One escaped line, with maps as `plan=pro, store=Berlin` and arrays as `a, b`. */
export function toHumanText(column: Column, value: Json | undefined, time: TimeFormatter): string {
  if (column.kind === "duration" && typeof value === "number") return toDurationText(value);
  if (column.kind === "duration" && value === null) return "off";
  if (typeof value === "number" && Object.hasOwn(NUMBER_TEXTS, column.kind))
    return NUMBER_TEXTS[column.kind as keyof typeof NUMBER_TEXTS](value);
  if (Array.isArray(value)) return toSafeCell(value.map(toPlainText).join(", "));
  if (!isJsonObject(value)) return toSafeCell(toCellText(column, value, time));
  return toSafeCell(
    Object.entries(value)
      .map(([key, item]) => `${key}=${toPlainText(item)}`)
      .join(", "),
  );
}

const NUMBER_TEXTS = {
  points: toPoints,
  change: toChange,
  share: toShare,
  probability: (value: number) => (value < 0.001 ? "<0.001" : value.toFixed(3)),
} as const;

/** Always has one decimal, so that columns align. */
export function toShare(share: number): string {
  return `${(100 * share).toFixed(1)}%`;
}

export function toPercent(share: number): string {
  const rounded = Math.round(share * 1000) / 10;
  return share < 1 && rounded === 100 ? ">99.9%" : `${rounded}%`;
}

/** Nested objects become `plan=pro n=51`, or just their `text`. */
function toPlainText(value: Json): string {
  if (typeof value === "string") return value;
  if (Array.isArray(value)) return value.map(toPlainText).join("; ");
  if (!isJsonObject(value)) return JSON.stringify(value);
  const hasParts = Object.values(value).some((part) => typeof part === "object" && part !== null);
  if (typeof value["text"] === "string" && !hasParts) return value["text"];
  return Object.entries(value)
    .filter(([, item]) => item !== null)
    .map(([key, item]) => `${key}=${toPlainText(item)}`)
    .join(" ");
}

const UNITS = [
  ["day", 86_400],
  ["hour", 3_600],
  ["minute", 60],
] as const;

function toDurationText(seconds: number): string {
  const [unit, length] = UNITS.find(([, each]) => seconds >= each && seconds % each === 0) ?? ["second", 1];
  const count = seconds / length;
  return `${count} ${unit}${count === 1 ? "" : "s"}`;
}

export type Tone = "good" | "middling" | "bad" | "plain";

const SCORE_TONES = { promoter: "good", passive: "middling", detractor: "bad" } as const;

export function toneOf(column: Column, value: Json | undefined, row: JsonObject): Tone {
  if (column.isSure?.(row) === false) return "plain";
  if (column.kind === "score" && typeof value === "number") return SCORE_TONES[scoreCategory(value)];
  if (SCORES_BY_NAME.has(column.name)) return toneOfScore(value);
  if (column.kind === "flag" && typeof value === "boolean") return value ? "good" : "bad";
  const [, category] = COUNT_NAME.exec(column.name) ?? [];
  return category === undefined ? "plain" : SCORE_TONES[category as keyof typeof SCORE_TONES];
}

export function toneOfScore(value: unknown): Tone {
  if (typeof value !== "number" || value === 0) return "plain";
  return value > 0 ? "good" : "bad";
}

/** A higher score is good, but more responses aren't necessarily. */
const SCORES_BY_NAME: ReadonlySet<string> = new Set(["nps", "nps_change", "change"]);

const COUNT_NAME = /^(promoter|passive|detractor)_(?:count|percent)$/;

export interface Paint {
  readonly tone: (text: string, tone: Tone) => string;
  readonly cell: (text: string, tone: Tone, spans: Column["spans"]) => string;
  readonly heading: (text: string) => string;
}

const COLOURS = { good: "green", middling: "yellow", bad: "red" } as const;

export function createPaint(color: boolean): Paint {
  const chalk = new Chalk({ level: color ? 1 : 0 });
  const paintTone: Paint["tone"] = (text, tone) => (tone === "plain" ? text : chalk[COLOURS[tone]](text));
  return {
    tone: paintTone,
    cell(text, tone, spansOf) {
      let at = 0;
      let painted = "";
      for (const { start, end } of color ? (spansOf?.(text) ?? []) : []) {
        painted += paintTone(text.slice(at, start), tone) + chalk.bold.underline(text.slice(start, end));
        at = end;
      }
      return painted + paintTone(text.slice(at), tone);
    },
    heading: (text) => chalk.bold(text),
  };
}

/** The colors are those of `gh`. */
export function paintJson(text: string, color: boolean): string {
  if (!color) return text;
  const chalk = new Chalk({ level: 1 });
  return text.replace(TOKEN, (token, at: number) => {
    if (token.startsWith('"')) return text[at + token.length] === ":" ? chalk.blue.bold(token) : chalk.green(token);
    return /^[{}[\],:]$/.test(token) ? token : chalk.cyan(token);
  });
}
