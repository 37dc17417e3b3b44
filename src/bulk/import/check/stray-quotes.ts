/** Cells that have probably swallowed rows, since a quote was opened and closed only somewhere below. */
import { isEmail } from "../../../contract/email.ts";
import { isE164 } from "../../../contract/phone.ts";
import { DELIMITERS } from "../table/delimiter.ts";
import type { Column } from "../table/header.ts";
import { countLineEnds, type InputRecord } from "../table/record-parser.ts";

export interface StrayQuote {
  /** Where the cell begins. */
  readonly line: number;
  /** The header of its column; empty where there is none. */
  readonly column: string;
  readonly lineEnds: number;
}

/** Texts that people write have fewer. */
const LINE_ENDS_MAX = 20;

/** The first suspicious cell of a record; null for a record that looks sound. */
export function findStrayQuote({ line, fields }: InputRecord, columns: readonly Column[]): StrayQuote | null {
  let before = 0;
  for (const [index, cell] of fields.entries()) {
    const lineEnds = countLineEnds(cell);
    if (lineEnds > LINE_ENDS_MAX || (lineEnds > 0 && holdsRows(cell, columns.length)))
      return { line: line + before, column: columns[index]?.header ?? "", lineEnds };
    before += lineEnds;
  }
  return null;
}

function holdsRows(cell: string, width: number): boolean {
  const [, ...below] = cell.split(/\r\n|\n|\r/);
  return below.some((text) => looksLikeRow(text, width));
}

/** As many fields as the header has, and one of them names a person. */
function looksLikeRow(text: string, width: number): boolean {
  return DELIMITERS.some((delimiter) => {
    const pieces = text.split(delimiter).map((piece) => piece.replaceAll('"', "").trim());
    return pieces.length === width && width > 1 && pieces.some((piece) => isEmail(piece) || isE164(piece));
  });
}
