/** Tables for people: fitted to the terminal, laid out by the first rows and streamed from there. */
import type { JsonObject } from "../../contract/json.ts";
import { unixSeconds } from "../../runtime/clock.ts";
import { selectColumns, type Column, type Resource } from "./columns.ts";
import type { ListOutput, RenderContext } from "./context.ts";
import type { Rows } from "./encoders.ts";
import { toHumanText, toneOf, type Tone } from "./human.ts";
import { createPaint } from "./paint.ts";
import { GAP, layOutColumns } from "./table-layout.ts";
import { createTextMeasure } from "./text-measure.ts";
import { createTimeFormatter } from "./time.ts";

/** Rows that decide how wide the columns become; those after them are cut to fit. */
const LAYOUT_ROWS = 500;

interface Cell {
  readonly text: string;
  readonly tone: Tone;
}

export function openTable(context: RenderContext, resource: Resource): ListOutput {
  const { streams, options, clock } = context;
  const columns = tableColumns(resource, options.columns);
  const time = createTimeFormatter({
    format: options.time ?? "local",
    zone: options.timeZone,
    now: unixSeconds(clock),
  });
  let waiting: Cell[][] = [];
  let note: string | null = null;
  let writeLines: ((rows: readonly Cell[][]) => string) | null = null;
  const toCells = (row: JsonObject): Cell[] =>
    columns.map((column) => {
      const value = column.read(row);
      return { text: toHumanText(column, value, time), tone: toneOf(column, value) };
    });
  const start = (): string => {
    const drawing = draw(context, resource, columns, waiting);
    note = options.quiet ? null : drawing.note;
    writeLines = drawing.lines;
    return drawing.heading + drawing.lines(waiting);
  };
  return {
    async write({ rows }: Rows) {
      const cells = rows.map(toCells);
      if (writeLines !== null) return streams.out.write(writeLines(cells));
      waiting = [...waiting, ...cells];
      if (waiting.length >= LAYOUT_ROWS) await streams.out.write(start());
    },
    async end() {
      if (writeLines === null && waiting.length > 0) await streams.out.write(start());
      if (writeLines === null && streams.out.isTTY && !options.quiet) note = `no ${resource.noun}\n`;
      if (note !== null) await streams.err.write(note);
    },
  };
}

function tableColumns(resource: Resource, names: readonly string[] | null): readonly Column[] {
  return selectColumns(resource, names ?? resource.table);
}

interface Drawing {
  readonly heading: string;
  /** What did not fit, for stderr; null when everything does. */
  readonly note: string | null;
  readonly lines: (rows: readonly Cell[][]) => string;
}

function draw(
  { streams, options }: RenderContext,
  resource: Resource,
  columns: readonly Column[],
  rows: readonly Cell[][],
): Drawing {
  const measure = createTextMeasure();
  const paint = createPaint(options.color);
  const rooms = columns.map((column, index) => {
    const natural = Math.max(
      measure.width(headingOf(column)),
      ...rows.map((row) => measure.width(row[index]?.text ?? "")),
    );
    return {
      name: column.name,
      natural,
      minimum: Math.min(natural, leastWidthOf(column)),
      floor: column.kind === "text" ? FLOOR : natural,
    };
  });
  const dropFirst = options.columns === null ? resource.dropFirst : options.columns.toReversed();
  const { widths, dropped } = layOutColumns(rooms, emptyFirst(dropFirst, columns, rows), streams.out.columns);
  const line = (cells: readonly Cell[], colour: (text: string, tone: Tone) => string): string => {
    const parts = columns.flatMap((column, index) => {
      const width = widths.get(column.name);
      const { text, tone } = cells[index] ?? { text: "", tone: "plain" };
      return width === undefined ? [] : [measure.fit(text, width, alignOf(column), (shown) => colour(shown, tone))];
    });
    return `${parts.join(GAP).trimEnd()}\n`;
  };
  const headings = columns.map((column) => ({ text: headingOf(column), tone: "plain" as const }));
  return {
    heading: line(headings, paint.heading),
    note: dropped.length === 0 ? null : noteOf(dropped),
    lines: (cells) => cells.map((row) => line(row, paint.tone)).join(""),
  };
}

/** A column without a single value gives way before any that has some. */
function emptyFirst(names: readonly string[], columns: readonly Column[], rows: readonly Cell[][]): readonly string[] {
  const filled = new Set(
    columns.filter((_, index) => rows.some((row) => row[index]?.text !== "")).map(({ name }) => name),
  );
  return [...names.filter((name) => !filled.has(name)), ...names.filter((name) => filled.has(name))];
}

function noteOf(dropped: readonly string[]): string {
  return `note: no room for ${dropped.join(", ")}; --columns chooses\n`;
}

const HEADINGS: ReadonlyMap<string, string> = new Map([
  ["next_survey_scheduled_at", "NEXT SURVEY"],
  ["survey_scheduled_at", "NEXT SURVEY"],
  ["last_responded_at", "LAST RESPONSE"],
  ["phone_number", "PHONE"],
  ["person_phone_number", "PERSON PHONE"],
  ["person_properties", "PROPERTIES"],
  ["response_count", "RESPONSES"],
  ["response_count_change", "CHANGE"],
  ["nps_change", "CHANGE"],
  ["promoter_percent", "PROMOTERS %"],
  ["passive_percent", "PASSIVES %"],
  ["detractor_percent", "DETRACTORS %"],
]);

/** `LAST SENT` for `last_sent_at`; a dotted path stays as it was typed. */
function headingOf({ name }: Column): string {
  return (
    HEADINGS.get(name) ?? (name.includes(".") ? name : name.replace(/_at$/, "").replaceAll("_", " ").toUpperCase())
  );
}

const EMAIL_WIDTH = 24;
/** What people said is what the table is read for: lesser columns go before it shrinks to a few words. */
const COMMENT_WIDTH = 20;
const TEXT_WIDTH = 12;
const FLOOR = 4;

/** Prose may be cut; a cut id, time or number would be a wrong one. */
function leastWidthOf({ name, kind }: Column): number {
  if (kind !== "text") return Infinity;
  if (name === "comment") return COMMENT_WIDTH;
  return name.endsWith("email") ? EMAIL_WIDTH : TEXT_WIDTH;
}

function alignOf({ kind }: Column): "left" | "right" {
  return kind === "number" || kind === "change" || kind === "score" ? "right" : "left";
}
