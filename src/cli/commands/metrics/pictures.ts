/** What a terminal shows for people: a card for one period, a line beneath a table of many. */
import type { JsonObject } from "../../../contract/json.ts";
import type { Deps } from "../../command/deps.ts";
import { chooseFormat } from "../../render/list-output.ts";

/** On a terminal, in the table format, and never in place of chosen columns. */
export function wantsPictures(deps: Deps): boolean {
  return deps.streams.out.isTTY && chooseFormat(deps) === "table" && deps.options.columns === null;
}

/** Cells beside the line: `nps  `, `*  min -100, max -100` and the mark of what was left out. */
const BESIDE_TREND = 28;

/** What marks the period that is not over. */
export const RUNNING_MARK = "*";

/** `nps  ▁▃▅█*  min 12, max 45`; a period without responses is a dot. The newest periods that one line has room for. */
export async function drawTrend(deps: Deps, rows: readonly JsonObject[], isRunning: boolean): Promise<void> {
  const { unicode } = deps.options;
  const room = Math.max(deps.streams.out.columns - BESIDE_TREND, 1);
  const all = rows.map(({ nps }) => (typeof nps === "number" ? nps : null));
  const values = all.length <= room ? all : all.slice(1 - room);
  const known = values.filter((value) => value !== null);
  if (!wantsPictures(deps) || known.length === 0) return;
  const mark = isRunning ? RUNNING_MARK : "";
  const line = `${values.length < all.length ? (unicode ? "…" : "<") : ""}${toSparkline(values, unicode)}${mark}`;
  const note = isRunning ? `\n${RUNNING_MARK} not over yet` : "";
  await deps.streams.out.write(`\nnps  ${line}  min ${Math.min(...known)}, max ${Math.max(...known)}${note}\n`);
}

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
