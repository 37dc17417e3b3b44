/** Which columns a table has room for, and how wide each becomes. */
export interface ColumnRoom {
  readonly name: string;
  /** Cells that its widest value, or its heading, takes. */
  readonly natural: number;
  /** Cells below which it is not worth showing while others can give way. */
  readonly minimum: number;
  /** Cells that it keeps even when nothing else can. */
  readonly floor: number;
}

export interface Layout {
  /** Width of each column that is shown, by name. */
  readonly widths: ReadonlyMap<string, number>;
  readonly dropped: readonly string[];
}

export const GAP = "  ";

/** Drops columns in the order of `dropFirst` until the others fit at their least, then shares out what room is left. */
export function layOutColumns(columns: readonly ColumnRoom[], dropFirst: readonly string[], room: number): Layout {
  let shown = columns;
  const dropped: string[] = [];
  for (const name of dropFirst) {
    if (leastWidth(shown) <= room || shown.length === 1) break;
    if (!shown.some((column) => column.name === name)) continue;
    shown = shown.filter((column) => column.name !== name);
    dropped.push(name);
  }
  const columnsLeft = leastWidth(shown) <= room ? shown : shown.map(squeezed);
  return { widths: shareRoom(columnsLeft, room - leastWidth(columnsLeft)), dropped };
}

/** On a terminal that is too narrow for what must stay, prose shrinks further. */
function squeezed(column: ColumnRoom): ColumnRoom {
  return { ...column, natural: column.minimum, minimum: Math.min(column.minimum, column.floor) };
}

function leastWidth(columns: readonly ColumnRoom[]): number {
  return columns.reduce((sum, { minimum }) => sum + minimum, 0) + GAP.length * Math.max(columns.length - 1, 0);
}

/** Those that need least are served first, so that nothing is cut while a neighbour has room to spare. */
function shareRoom(columns: readonly ColumnRoom[], spare: number): ReadonlyMap<string, number> {
  const byNeed = columns.toSorted((a, b) => a.natural - a.minimum - (b.natural - b.minimum));
  let left = Math.max(spare, 0);
  const granted = new Map<string, number>();
  for (const [index, { name, natural, minimum }] of byNeed.entries()) {
    const share = Math.min(natural - minimum, Math.floor(left / (byNeed.length - index)));
    granted.set(name, minimum + share);
    left -= share;
  }
  return new Map(columns.map(({ name, minimum }) => [name, granted.get(name) ?? minimum]));
}
