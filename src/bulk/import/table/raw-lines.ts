/** Lines of the input as they stand in it, decoded and otherwise untouched. */
import { createReadStream } from "node:fs";
import { toUtf8 } from "./utf8-bytes.ts";

/** From line `first` to line `last`, counted from 1 as an editor does, without the last one's end. Throws EncodingError. */
export async function readRawLines(path: string, first: number, last: number): Promise<string> {
  const found: string[] = [];
  let line = 1;
  let begun = "";
  for await (const bytes of toUtf8(createReadStream(path))) {
    // A carriage return at the end may be the first half of a line end.
    const pieces = (begun + bytes.toString()).split(/(?<=\n|\r(?!\n|$))/);
    begun = pieces.pop() ?? "";
    for (const piece of pieces) {
      if (line >= first && line <= last) found.push(piece);
      line += 1;
    }
    if (line > last) break;
  }
  if (line >= first && line <= last) found.push(begun);
  return found.join("").replace(/(?:\r\n|\n|\r)$/, "");
}
