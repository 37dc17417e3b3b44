/** Returns a function that adds `cells` empty cells to the end of each row in the chunks it is given. */
export type Widen = (cells: number) => (chunk: Uint8Array) => Uint8Array;

const [QUOTE, LINE_FEED, RETURN] = [0x22, 0x0a, 0x0d];

/** In CSV a line end within quotes belongs to a cell. */
export const widenCsv: Widen = (cells) => createWidener(",".repeat(cells), true);

/** Line ends in cells of TSV are escaped, and quotes mean nothing to them. */
export const widenTsv: Widen = (cells) => createWidener("\t".repeat(cells), false);

function createWidener(cells: string, hasQuotes: boolean): (chunk: Uint8Array) => Uint8Array {
  const added = Buffer.from(cells);
  let isQuoted = false;
  let afterReturn = false;
  return (chunk) => {
    const parts: Uint8Array[] = [];
    let start = 0;
    for (let at = 0; at < chunk.length; at += 1) {
      const byte = chunk[at];
      if (byte === QUOTE && hasQuotes) isQuoted = !isQuoted;
      else if (!isQuoted && (byte === RETURN || (byte === LINE_FEED && !afterReturn))) {
        parts.push(chunk.subarray(start, at), added);
        start = at;
      }
      afterReturn = byte === RETURN;
    }
    return Buffer.concat([...parts, chunk.subarray(start)]);
  };
}
