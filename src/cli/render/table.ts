/** Tables fit the terminal. The first rows determine the layout; the rest are streamed. */
import type { JsonObject } from "../../contract/json.ts";
import { isNumeric } from "../../contract/column-kinds.ts";
import { withAllDigits } from "../../contract/long-numbers.ts";
import type { RowPage } from "../../contract/row-page.ts";
import { selectColumns, type Column, type Resource, type ListOutput, type RenderContext } from "./columns.ts";
import { drawGrid, GAP } from "./grid.ts";
import { createPaint, toHumanText, toneOf, type Tone } from "./human.ts";
import { toSafeText } from "./safe-text.ts";
import { createTextMeasure, type FittedText } from "./text-measure.ts";
import { timeFormatterFor } from "./time.ts";

const LAYOUT_ROWS = 500;

interface Cell {
  readonly text: string;
  readonly tone: Tone;
  readonly spans?: Column["spans"];
}

const NO_CELL: Cell = { text: "", tone: "plain" };

export interface TableLayout {
  readonly wrap: boolean;
  readonly live: boolean;
}

export function openTableOutput(context: RenderContext, resource: Resource, { wrap, live }: TableLayout): ListOutput {
  const { streams, options } = context;
  const columns = selectColumns(resource, options.columns ?? resource.table ?? null);
  const time = timeFormatterFor(context, "local");
  const noValue = options.unicode ? "–" : "-";
  let waiting: Cell[][] = [];
  let note: string | null = null;
  let writeLines: ((rows: readonly Cell[][]) => string) | null = null;
  const toCells = (row: JsonObject): Cell[] =>
    columns.map((column) => {
      const value = column.read(row);
      const text = toHumanText(column, value, time);
      const shown = text === "" && column.kind === "nps" ? noValue : text;
      return { text: shown, tone: toneOf(column, value, row), ...(column.spans && { spans: column.spans }) };
    });
  const start = (): string => {
    const drawing = draw(context, resource, columns, waiting, { wrap, live });
    note = options.quiet ? null : noteOf(drawing.dropped, options);
    writeLines = drawing.lines;
    return drawing.heading + drawing.lines(waiting);
  };
  return {
    async write(page: RowPage) {
      const cells = withAllDigits(page).map(toCells);
      if (writeLines !== null) return streams.out.write(writeLines(cells));
      waiting = [...waiting, ...cells];
      if (waiting.length >= (live ? 1 : LAYOUT_ROWS)) await streams.out.write(start());
    },
    async end() {
      if (writeLines === null && waiting.length > 0) await streams.out.write(start());
      if (writeLines === null && streams.out.isTTY && !options.quiet) note = `no ${resource.noun}\n`;
      if (note !== null) await streams.err.write(note);
    },
  };
}

function draw(
  { streams, options }: RenderContext,
  resource: Resource,
  columns: readonly Column[],
  rows: readonly Cell[][],
  { wrap, live }: TableLayout,
) {
  const measure = createTextMeasure(options.unicode);
  const paint = createPaint(options.color);
  const asked = options.columns !== null;
  const rooms = columns.map((column, index) => {
    const widths = rows.map((row) => measure.width(row[index]?.text ?? ""));
    const seen = Math.max(measure.width(headingOf(column)), ...widths);
    const flexible = !asked && column.name === resource.flexible;
    const natural = live ? Math.max(seen, liveWidth(column, flexible, streams.out.columns)) : seen;
    const isEmpty = !live && widths.every((width) => width === 0);
    const isZero = !live && rows.every((row) => ["", "0"].includes(row[index]?.text ?? ""));
    return { name: column.name, ...roomOf(column, natural, flexible), isEmpty, isZero };
  });
  const order = asked
    ? { first: [], last: options.columns.toReversed() }
    : { first: resource.dropFirst ?? [], last: resource.dropLast ?? [] };
  const { widths, dropped } = layOutColumns(rooms, order, streams.out.columns);
  const shown = columns.flatMap((column, index) => {
    const width = widths.get(column.name);
    return width === undefined
      ? []
      : [
          {
            index,
            width,
            align: isNumeric(column) ? ("right" as const) : ("left" as const),
            wraps: wrap && column.kind === "text",
          },
        ];
  });
  const linesOf = (cells: readonly Cell[], colour: (text: string, cell: Cell) => string): FittedText[][] => {
    const stacks = shown.map(({ index, width, wraps }) => {
      const text = cells[index]?.text ?? "";
      return wraps ? measure.wrap(text, width) : [text];
    });
    const height = Math.max(...stacks.map((stack) => stack.length));
    return Array.from({ length: height }, (_, at) =>
      shown.map(({ index, width }, place) =>
        measure.fit(stacks[place]?.[at] ?? "", width, (part) => colour(part, cells[index] ?? NO_CELL)),
      ),
    );
  };
  const headings = columns.map((column) => ({ text: headingOf(column), tone: "plain" as const }));
  return {
    heading: drawGrid(shown, linesOf(headings, paint.heading)),
    dropped,
    lines: (cells: readonly Cell[][]): string =>
      drawGrid(
        shown,
        cells.flatMap((row) => linesOf(row, (text, { tone, spans }) => paint.cell(text, tone, spans))),
      ),
  };
}

/** Prints the note only with `--columns` or `--verbose`, because otherwise it would appear too often. */
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
  ["detractors_share", "DETR. %"],
  ["promoters_share", "PROM. %"],
  ["response_count_change", "+/-"],
  ["nps_low", "LOW"],
  ["nps_high", "HIGH"],
  ["promoter_percent", "PROMOTERS %"],
  ["passive_percent", "PASSIVES %"],
  ["detractor_percent", "DETRACTORS %"],
]);

function headingOf({ name }: Column): string {
  const property = /^(?:person_)?properties\.(.+)$/.exec(name)?.[1];
  const words = (property ?? name.replace(/_at$/, "")).replaceAll(/[._]/g, " ").toUpperCase();
  return HEADINGS.get(name) ?? toSafeText(words);
}

const EMAIL_WIDTH = 24;
/** Columns are dropped to keep the comment column at least this wide, so that a sentence stays readable. */
const SENTENCE_WIDTH = 40;
const COMMENT_WIDTH = 20;
const TEXT_WIDTH = 12;
const FLOOR = 4;
const URL_NAME = /(?:^|[_.])(?:url|link|permalink)$/;

/** In a live list, leaves room for longer text in later rows. Ids and numbers hardly grow. */
function liveWidth({ name, kind }: Column, flexible: boolean, room: number): number {
  if (kind !== "text") return 0;
  return flexible ? room : name.endsWith("email") ? EMAIL_WIDTH : TEXT_WIDTH;
}

/** Only prose is truncated, because a truncated id, time or number would be wrong. */
function roomOf(
  { name, kind }: Column,
  natural: number,
  flexible: boolean,
): Pick<ColumnRoom, "natural" | "comfortable" | "minimum" | "floor"> {
  if (kind !== "text" || URL_NAME.test(name))
    return { natural, comfortable: natural, minimum: natural, floor: natural };
  const least = name === "comment" ? COMMENT_WIDTH : name.endsWith("email") ? EMAIL_WIDTH : TEXT_WIDTH;
  const minimum = Math.min(natural, least);
  return {
    natural,
    comfortable: flexible ? Math.min(natural, SENTENCE_WIDTH) : minimum,
    minimum,
    floor: Math.min(minimum, FLOOR),
  };
}

interface ColumnRoom {
  readonly name: string;
  readonly natural: number;
  readonly comfortable: number;
  readonly minimum: number;
  readonly floor: number;
  readonly isEmpty: boolean;
  readonly isZero: boolean;
}

type Need = "natural" | "comfortable" | "minimum" | "floor";

/** Drops empty columns first, then columns that are all zeros, then others by `order`, until the rest fits. */
function layOutColumns(
  columns: readonly ColumnRoom[],
  order: Readonly<Record<"first" | "last", readonly string[]>>,
  room: number,
): { readonly widths: ReadonlyMap<string, number>; readonly dropped: readonly string[] } {
  const names = [...new Set([...order.first, ...order.last, ...columns.map(({ name }) => name).toReversed()])];
  const namesOf = (kind: "isEmpty" | "isZero"): string[] =>
    names.filter((name) => columns.some((column) => column[kind] && column.name === name));
  const empty = [...new Set([...namesOf("isEmpty"), ...namesOf("isZero")])];
  const whole = dropUntil(columns, empty, "natural", room);
  const comfortable = dropUntil(whole, order.first, "comfortable", room);
  const shown = dropUntil(comfortable, order.last, "minimum", room);
  const need = (["comfortable", "minimum"] as const).find((each) => widthOf(shown, each) <= room) ?? "floor";
  return {
    widths: shareRoom(shown, need, room - widthOf(shown, need)),
    dropped: [...new Set([...empty, ...names])].filter((name) => has(columns, name) && !has(shown, name)),
  };
}

function has(columns: readonly ColumnRoom[], name: string): boolean {
  return columns.some((column) => column.name === name);
}

/** The two ends of an interval are shown or dropped together. */
const INTERVAL_END = /^(.+)_(?:low|high)$/;

function dropUntil(
  columns: readonly ColumnRoom[],
  names: readonly string[],
  need: Need,
  room: number,
): readonly ColumnRoom[] {
  let shown = columns;
  for (const name of names) {
    if (widthOf(shown, need) <= room || shown.length === 1) break;
    const interval = INTERVAL_END.exec(name)?.[1] ?? null;
    shown = shown.filter((column) => column.name !== name && INTERVAL_END.exec(column.name)?.[1] !== interval);
  }
  return shown.length === 0 ? columns.slice(0, 1) : shown;
}

function widthOf(columns: readonly ColumnRoom[], need: Need): number {
  return columns.reduce((sum, column) => sum + column[need], 0) + GAP.length * Math.max(columns.length - 1, 0);
}

/** Serves columns that need the least first, so that no text is truncated while another column has room to spare. */
function shareRoom(columns: readonly ColumnRoom[], need: Need, spare: number): ReadonlyMap<string, number> {
  // On a very narrow terminal, columns grow only up to their minimum width.
  const wanted = (column: ColumnRoom): number => (need === "floor" ? column.minimum : column.natural) - column[need];
  const byNeed = columns.toSorted((a, b) => wanted(a) - wanted(b));
  let left = Math.max(spare, 0);
  const granted = new Map<string, number>();
  for (const [index, column] of byNeed.entries()) {
    const share = Math.min(wanted(column), Math.floor(left / (byNeed.length - index)));
    granted.set(column.name, column[need] + share);
    left -= share;
  }
  return new Map(columns.map((column) => [column.name, granted.get(column.name) ?? column[need]]));
}
