export interface ForeignFormat {
  /** Completes the sentence `customers.csv is …`. */
  readonly what: string;
  readonly hint: string;
}

const SAVE_AS_CSV = 'in the spreadsheet, save it as "CSV UTF-8"';

const MARKS: readonly (readonly [mark: string, format: ForeignFormat])[] = [
  ["1f8b", { what: "compressed with gzip twice", hint: "unpack it first: gunzip -k FILE.gz" }],
  ["255044462d", { what: "a PDF document", hint: "export the table as CSV from the program that made it" }],
  ["d0cf11e0a1b11ae1", { what: "an Excel workbook (.xls)", hint: SAVE_AS_CSV }],
  ["28b52ffd", { what: "compressed with zstd", hint: "unpack it first: unzstd -k FILE.zst" }],
  ["425a68", { what: "compressed with bzip2", hint: "unpack it first: bunzip2 -k FILE.bz2" }],
  ["fd377a585a00", { what: "compressed with xz", hint: "unpack it first: unxz -k FILE.xz" }],
];

const ZIP_MARK = "504b0304";

/** `head` is at least the first 1 KiB. */
export function detectForeignFormat(head: Uint8Array): ForeignFormat | null {
  const bytes = Buffer.from(head.buffer, head.byteOffset, head.byteLength);
  const hex = bytes.toString("hex", 0, 16);
  const marked = MARKS.find(([mark]) => hex.startsWith(mark))?.[1];
  if (marked !== undefined) return marked;
  return hex.startsWith(ZIP_MARK) ? describeZip(bytes.toString("latin1")) : null;
}

function describeZip(text: string): ForeignFormat {
  if (/xl\/|\[Content_Types\]\.xml/.test(text)) return { what: "an Excel workbook", hint: SAVE_AS_CSV };
  if (text.includes("opendocument.spreadsheet")) return { what: "an OpenDocument spreadsheet", hint: SAVE_AS_CSV };
  return { what: "a zip archive", hint: "unpack it first; a spreadsheet is saved as CSV UTF-8" };
}

/** A first line `sep=;` sets the delimiter for Excel. */
export function readSeparatorLine(text: string): { readonly delimiter: string; readonly length: number } | null {
  const [line = "", delimiter] = /^sep=(.)\r?\n/i.exec(text) ?? [];
  return delimiter === undefined ? null : { delimiter, length: line.length };
}

export function endsLinesWithCarriageReturns(text: string): boolean {
  let [returns, feeds] = [0, 0];
  for (const [, end] of text.replaceAll(/"[^"]*"/g, "").matchAll(/(\r(?!\n)|\n)/g)) {
    if (end === "\n") feeds += 1;
    else returns += 1;
  }
  return returns > feeds;
}

export const DELIMITERS = [",", ";", "\t", "|"] as const;

/** The most frequent delimiter outside quotes in the first line that isn't blank. */
export function findDelimiter(text: string): string {
  const counts = new Map<string, number>();
  let quoted = false;
  for (const char of text.replace(/^[\r\n]+/, "")) {
    if (char === '"') quoted = !quoted;
    else if (!quoted && (char === "\n" || char === "\r")) break;
    else if (!quoted && (DELIMITERS as readonly string[]).includes(char)) counts.set(char, (counts.get(char) ?? 0) + 1);
  }
  const [best] = [...counts].sort(([, left], [, right]) => right - left);
  return best?.[0] ?? ",";
}
