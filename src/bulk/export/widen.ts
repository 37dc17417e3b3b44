/** Returns a function that appends `cells` empty cells to each row of a chunk. */
export type Widen = (cells: number) => (chunk: Uint8Array) => Uint8Array;

const [QUOTE, LINE_FEED, RETURN] = [0x22, 0x0a, 0x0d];

/** Line breaks inside quotes belong to a cell. */
export const widenCsv: Widen = (cells) => createWidener(",".repeat(cells), true);

/** TSV escapes line breaks in cells and doesn't use quotes. */
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
