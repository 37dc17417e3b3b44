/** Lines of the input as they stand in it, decoded and otherwise untouched. */
import type { InputFile } from "./input-file.ts";
import { toUtf8 } from "./utf8-bytes.ts";

/** From line `first` to line `last`, counted from 1 as an editor does, without the last one's end. Throws EncodingError. */
export async function readRawLines(input: InputFile, first: number, last: number): Promise<string> {
  const found: string[] = [];
  let line = 1;
  let begun = "";
  for await (const bytes of toUtf8(input.bytes())) {
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
