/** Which columns a table has room for, and how wide each becomes. */
export interface ColumnRoom {
  readonly name: string;
  /** Cells that its widest value, or its heading, takes. */
  readonly natural: number;
  /** Cells that it should have while lesser columns can give way. */
  readonly comfortable: number;
  /** Cells below which it is not worth showing while any other column can give way. */
  readonly minimum: number;
  /** Cells that it keeps even when nothing else can. */
  readonly floor: number;
  /** Not one of the rows has a value in it. */
  readonly isEmpty: boolean;
}

export interface DropOrder {
  /** Names that give way so that the others are comfortable, least important first. */
  readonly first: readonly string[];
  /** Names that give way only when the others are at their least. */
  readonly last: readonly string[];
}

export interface Layout {
  /** Width of each column that is shown, by name. */
  readonly widths: ReadonlyMap<string, number>;
  readonly dropped: readonly string[];
}

export const GAP = "  ";

type Need = "natural" | "comfortable" | "minimum" | "floor";

/**
 * Columns without a single value give way first, then those of the order, until the others fit at their least; what
 * room is left is shared out.
 */
export function layOutColumns(columns: readonly ColumnRoom[], order: DropOrder, room: number): Layout {
  const names = [...new Set([...order.first, ...order.last, ...columns.map(({ name }) => name)])];
  const empty = names.filter((name) => columns.some((column) => column.isEmpty && column.name === name));
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

function dropUntil(
  columns: readonly ColumnRoom[],
  names: readonly string[],
  need: Need,
  room: number,
): readonly ColumnRoom[] {
  let shown = columns;
  for (const name of names) {
    if (widthOf(shown, need) <= room || shown.length === 1) break;
    shown = shown.filter((column) => column.name !== name);
  }
  return shown.length === 0 ? columns.slice(0, 1) : shown;
}

function widthOf(columns: readonly ColumnRoom[], need: Need): number {
  return columns.reduce((sum, column) => sum + column[need], 0) + GAP.length * Math.max(columns.length - 1, 0);
}

/** Those that need least are served first, so that nothing is cut while a neighbour has room to spare. */
function shareRoom(columns: readonly ColumnRoom[], need: Need, spare: number): ReadonlyMap<string, number> {
  // On a terminal that is too narrow for what must stay, nothing grows past its least.
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
