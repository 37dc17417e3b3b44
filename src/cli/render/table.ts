/** Tables for people: fitted to the terminal, laid out by the first rows and streamed from there. */
import type { JsonObject } from "../../contract/json.ts";
import { unixSeconds } from "../../runtime/clock.ts";
import { selectColumns, type Column, type Resource } from "./columns.ts";
import type { ListOutput, RenderContext } from "./context.ts";
import type { Rows } from "./encoders.ts";
import { createPaint, toHumanText, toneOf, type Tone } from "./human.ts";
import { GAP, layOutColumns, type ColumnRoom } from "./table-layout.ts";
import { createTextMeasure } from "./text-measure.ts";
import { createTimeFormatter } from "./time.ts";

/** Rows that decide how wide the columns become; those after them are cut to fit. */
const LAYOUT_ROWS = 500;

interface Cell {
  readonly text: string;
  readonly tone: Tone;
}

/** `wrap`: text that is too wide goes on below itself, and is not cut. */
export function openTable(context: RenderContext, resource: Resource, wrap: boolean): ListOutput {
  const { streams, options, clock } = context;
  const columns = tableColumns(resource, options.columns);
  const time = createTimeFormatter({
    format: options.time ?? "local",
    zone: options.timeZone,
    now: unixSeconds(clock),
  });
  const noValue = options.unicode ? "–" : "-";
  let waiting: Cell[][] = [];
  let note: string | null = null;
  let writeLines: ((rows: readonly Cell[][]) => string) | null = null;
  const toCells = (row: JsonObject): Cell[] =>
    columns.map((column) => {
      const value = column.read(row);
      const text = toHumanText(column, value, time);
      return { text: text === "" && column.kind === "nps" ? noValue : text, tone: toneOf(column, value) };
    });
  const start = (): string => {
    const drawing = draw(context, resource, { columns, rows: waiting, wrap });
    note = options.quiet ? null : noteOf(drawing.dropped, options);
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
  /** The columns that did not fit. */
  readonly dropped: readonly string[];
  readonly lines: (rows: readonly Cell[][]) => string;
}

interface DrawingOptions {
  readonly columns: readonly Column[];
  /** Those that decide the layout. */
  readonly rows: readonly Cell[][];
  readonly wrap: boolean;
}

function draw(
  { streams, options }: RenderContext,
  resource: Resource,
  { columns, rows, wrap }: DrawingOptions,
): Drawing {
  const measure = createTextMeasure(options.unicode);
  const paint = createPaint(options.color);
  const asked = options.columns !== null;
  const rooms = columns.map((column, index) => {
    const widths = rows.map((row) => measure.width(row[index]?.text ?? ""));
    const natural = Math.max(measure.width(headingOf(column)), ...widths);
    const flexible = !asked && column.name === resource.flexible;
    return { name: column.name, ...roomOf(column, natural, flexible), isEmpty: widths.every((width) => width === 0) };
  });
  const order = asked
    ? { first: [], last: options.columns.toReversed() }
    : { first: resource.dropFirst, last: resource.dropLast ?? [] };
  const { widths, dropped } = layOutColumns(rooms, order, streams.out.columns);
  const shown = columns.flatMap((column, index) => {
    const width = widths.get(column.name);
    return width === undefined ? [] : [{ index, width, align: alignOf(column), wraps: wrap && column.kind === "text" }];
  });
  const line = (cells: readonly Cell[], colour: (text: string, tone: Tone) => string): string => {
    const stacks = shown.map(({ index, width, wraps }) => {
      const text = cells[index]?.text ?? "";
      return wraps ? measure.wrap(text, width) : [text];
    });
    const height = Math.max(...stacks.map((stack) => stack.length));
    const lineAt = (at: number): string =>
      shown
        .map(({ index, width, align }, place) =>
          measure.fit(stacks[place]?.[at] ?? "", width, align, (part) => colour(part, cells[index]?.tone ?? "plain")),
        )
        .join(GAP)
        .trimEnd();
    return Array.from({ length: height }, (_, at) => `${lineAt(at)}\n`).join("");
  };
  const headings = columns.map((column) => ({ text: headingOf(column), tone: "plain" as const }));
  return {
    heading: line(headings, paint.heading),
    dropped,
    lines: (cells) => cells.map((row) => line(row, paint.tone)).join(""),
  };
}

/** Once a session would be too often: only to somebody who named the columns, or asked for details. */
function noteOf(dropped: readonly string[], { columns, verbosity }: RenderContext["options"]): string | null {
  if (dropped.length === 0 || (columns === null && verbosity === 0)) return null;
  const hidden = `${dropped.length} ${dropped.length === 1 ? "column" : "columns"} hidden (${dropped.join(", ")})`;
  return `note: ${hidden}; ${columns === null ? "select with --columns" : "-o record shows them all"}\n`;
}

const HEADINGS: ReadonlyMap<string, string> = new Map([
  ["next_survey_scheduled_at", "NEXT SURVEY"],
  ["survey_scheduled_at", "NEXT SURVEY"],
  ["last_responded_at", "LAST RESPONSE"],
  ["phone_number", "PHONE"],
  ["person_phone_number", "PERSON PHONE"],
  ["person_properties", "PROPERTIES"],
  ["response_count", "RESPONSES"],
  ["response_count_change", "+/-"],
  ["nps_change", "CHANGE"],
  ["promoter_percent", "PROMOTERS %"],
  ["passive_percent", "PASSIVES %"],
  ["detractor_percent", "DETRACTORS %"],
]);

/** `LAST SENT` for `last_sent_at`, `PERSON EMAIL` for `person.email`, and a property by its own name. */
function headingOf({ name }: Column): string {
  const property = /^(?:person_)?properties\.(.+)$/.exec(name)?.[1];
  return HEADINGS.get(name) ?? (property ?? name.replace(/_at$/, "")).replaceAll(/[._]/g, " ").toUpperCase();
}

const EMAIL_WIDTH = 24;
/** What people said: lesser columns go before it shrinks to less than a sentence, all others before it is a few words. */
const SENTENCE_WIDTH = 40;
const COMMENT_WIDTH = 20;
const TEXT_WIDTH = 12;
const FLOOR = 4;

/** Prose may be cut; a cut id, time or number would be a wrong one. */
function roomOf(
  { name, kind }: Column,
  natural: number,
  flexible: boolean,
): Pick<ColumnRoom, "natural" | "comfortable" | "minimum" | "floor"> {
  if (kind !== "text") return { natural, comfortable: natural, minimum: natural, floor: natural };
  const least = name === "comment" ? COMMENT_WIDTH : name.endsWith("email") ? EMAIL_WIDTH : TEXT_WIDTH;
  const minimum = Math.min(natural, least);
  return {
    natural,
    comfortable: flexible ? Math.min(natural, SENTENCE_WIDTH) : minimum,
    minimum,
    floor: Math.min(minimum, FLOOR),
  };
}

function alignOf({ kind }: Column): "left" | "right" {
  return kind === "number" || kind === "change" || kind === "nps" || kind === "score" ? "right" : "left";
}
