import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { gzipSync } from "node:zlib";
import { parse } from "csv-parse/sync";
import { stringify } from "csv-stringify/sync";
import * as fc from "fast-check";
import { afterEach, beforeEach, describe, expect, it, test } from "vitest";
import { findDelimiter } from "../../../../src/bulk/import/table/format.ts";
import { toUtf8 } from "../../../../src/bulk/import/table/encoding.ts";
import { type InputRecord, RecordParser } from "../../../../src/bulk/import/table/record-parser.ts";
import { readRecords } from "../../../../src/bulk/import/table/records.ts";
import { openTestInput } from "../../../helpers/input-file.ts";

const PIECE_BYTES = 64 * 1024;

let folder = "";
beforeEach(async () => {
  folder = await mkdtemp(path.join(tmpdir(), "surveyctl-records-"));
});
afterEach(async () => {
  await rm(folder, { recursive: true, force: true });
});

async function read(text: string | Uint8Array, delimiter: string | null = null): Promise<InputRecord[]> {
  const file = path.join(folder, "in.csv");
  await writeFile(file, text);
  const records: InputRecord[] = [];
  for await (const batch of readRecords(await openTestInput(file, delimiter))) records.push(...batch);
  return records;
}

it.each([
  ["a,b\n1,2\n", ","],
  ["a;b,c;d\n", ";"],
  ["a\tb\n", "\t"],
  ["a|b\n", "|"],
  ['"a,b,c";d;e\n', ";"],
  ["email\n", ","],
  ["email\na;b\n", ","],
  ["\r\n\r\na;b\r\n", ";"],
  ["\n\na\tb\n", "\t"],
  ['"a\n,,,b";c\n', ";"],
])("when the file begins with %j, then %j separates its fields", (text, delimiter) => {
  expect(findDelimiter(text)).toBe(delimiter);
});

describe("line numbers", () => {
  it("when fields hold line ends and lines are blank, then each record has the line that an editor shows", async () => {
    const records = await read('a,b\r\n\r\n"x\r\ny\nz",1\r\n\r\nlast,2\r\n');
    expect(records).toEqual([
      { line: 1, fields: ["a", "b"], lineEnds: 0 },
      { line: 3, fields: ["x\r\ny\nz", "1"], lineEnds: 2 },
      { line: 7, fields: ["last", "2"], lineEnds: 0 },
    ]);
  });

  it.each([-3, -2, -1, 0, 1])(
    "when the first \\r\\n comes %i bytes from the end of a piece, then it ends a record as every other",
    async (offset) => {
      const before = "x\n".repeat(PIECE_BYTES / 2 - 2) + "y".repeat(4 + offset);
      const records = await read(`${before}\r\nlast\r\n`);
      expect(records.slice(-2).map(({ fields }) => fields)).toEqual([["y".repeat(4 + offset)], ["last"]]);
    },
  );

  it("when rows have too few or too many fields, then they come as they are", async () => {
    expect((await read("a,b\n1\n1,2,3\n")).map(({ fields }) => fields.length)).toEqual([2, 1, 3]);
  });

  it("when a record is endless, then both likely causes are named", async () => {
    await expect(read(`a,b\n${"x".repeat(5 * 1024 * 1024)}`)).rejects.toThrow(
      "in.csv:2: a record that begins here is longer than 4 MiB; a quote is not closed, or line ends are missing",
    );
  });
});

describe("a bad quote", () => {
  it.each([
    ["inside a field", 'a "b" c,d', /inside an unquoted field/],
    ["after a space", 'a, "b"', /a space precedes an opening quote/],
    ["before more text", '"a"b,c', /text follows a closing quote/],
    ["on the second line of a cell", '"a\nb"c,d', /text follows a closing quote/],
    ["that is never closed", 'a,"b', /begins here and is never closed/],
    ["after a formula that is none", '="a"b,c', /inside an unquoted field/],
  ])("%s ends with its line, and every other row is read", async (_, text, problem) => {
    for (const end of ["\n", "\r\n"]) {
      const bad = text.replace("\n", end);
      const records = await read(["x,y", '"1\n2",3', bad, "4,5"].join(end) + end);
      const line = 4 + bad.split("\n").length;
      expect(records).toEqual([
        { line: 1, fields: ["x", "y"], lineEnds: 0 },
        { line: 2, fields: ["1\n2", "3"], lineEnds: 1 },
        { line: 4, fields: [bad], lineEnds: bad.split("\n").length - 1, problem: expect.stringMatching(problem) },
        { line, fields: ["4", "5"], lineEnds: 0 },
      ]);
    }
  });

  it("names the lines that it makes one row", async () => {
    const records = await read('a,b\n"open,1\nx,2\ny,"3"\nz,4\n');
    expect(records.map(({ line, fields, problem = null }) => [line, fields.length, problem])).toEqual([
      [1, 2, null],
      [2, 1, expect.stringMatching(/^text follows a closing quote; .*; lines 2 to 4 are one row because of it$/)],
      [5, 2, null],
    ]);
  });

  it("that is never closed does not swallow more than its line of a large file", async () => {
    const cell = "x".repeat(60);
    const records = await read(`a,b\n"open,b\n${`${cell},b\n`.repeat(80_000)}`);
    expect([records.length, records[1]?.problem, records.at(-1)]).toEqual([
      80_002,
      expect.stringContaining("never closed"),
      { line: 80_002, fields: [cell, "b"], lineEnds: 0 },
    ]);
  });
});

test("whatever is read in pieces is read as in one", async () => {
  const text = fc.string({ unit: fc.constantFrom("a", "é", ",", '"', "\n", "\r\n", "=", " ", "ab,"), maxLength: 30 });
  fc.assert(
    fc.property(text, fc.integer({ min: 1, max: 4 }), (table, size) => {
      const bytes = Buffer.from(table);
      const whole = new RecordParser("in.csv", ",");
      const expected = [...whole.feed(bytes), ...whole.finish()];
      const pieces = new RecordParser("in.csv", ",");
      const found: InputRecord[] = [];
      for (let at = 0; at < bytes.length; at += size) found.push(...pieces.feed(bytes.subarray(at, at + size)));
      expect([...found, ...pieces.finish()]).toEqual(expected);
      const fields = expected.map((record) => record.fields);
      // csv-parse must agree, unless it finds an error.
      expect(readStrictly(table) ?? fields).toEqual(fields);
    }),
    { numRuns: 500 },
  );
});

function readStrictly(text: string): string[][] | null {
  try {
    const options = { relax_column_count: true, record_delimiter: ["\r\n", "\n"] };
    return parse(text, options).filter((fields) => fields.length > 1 || fields[0] !== "");
  } catch {
    return null;
  }
}

it("when any table is written and read, then it is the same table", async () => {
  const cell = fc.string({ unit: "grapheme", maxLength: 8 }).filter((text) => !text.includes("\ufeff"));
  const table = fc.array(fc.tuple(cell, cell, cell), { minLength: 1, maxLength: 6 });
  await fc.assert(
    fc.asyncProperty(table, fc.constantFrom(",", ";", "\t", "|"), async (rows, delimiter) => {
      const records = await read(stringify(rows, { delimiter, quoted: true }), delimiter);
      expect(records.map(({ fields }) => fields)).toEqual(rows);
    }),
    { numRuns: 60 },
  );
});

const TEXT = "email;name\r\nzoë@example.com;最高 👍🏽\n";
const little = Buffer.from(`\ufeff${TEXT}`, "utf16le");

it.each([
  ["UTF-8", Buffer.from(TEXT)],
  ["UTF-8 with a byte order mark", Buffer.from(`\ufeff${TEXT}`)],
  ["UTF-16 LE", little],
  ["UTF-16 BE", Buffer.from(little).swap16()],
])("when the file is %s, then it is the same table", async (_, bytes) => {
  expect((await read(bytes)).map(({ fields }) => fields)).toEqual([
    ["email", "name"],
    ["zoë@example.com", "最高 👍🏽"],
  ]);
});

it.each([
  ["in front of a space", [0x4a, 0xe9, 0x20, 0x41], "0xe9"],
  ["in front of the line's end", [0x41, 0xe9, 0x0a], "0xe9"],
  ["at the end of the file", [0x41, 0xf6], "0xf6"],
  ["in front of another one", [0x41, 0xfc, 0xdf, 0x0a], "0xfc"],
  ["that no UTF-8 begins with", [0x41, 0x93, 0x41], "0x93"],
  ["behind whole characters", [0xc3, 0xab, 0xe2, 0x82, 0xac, 0xe9, 0x2c], "0xe9"],
])("when a byte %s is not text, then the error has its line and the byte itself", async (_, bytes, byte) => {
  const rows = Buffer.concat([Buffer.from("name\nann\n"), Buffer.from(bytes)]);
  await expect(read(rows)).rejects.toThrow(
    `in.csv:3: the text is neither UTF-8 nor UTF-16 with a byte order mark (byte ${byte}, as in WINDOWS-1252)`,
  );
});

it("when a byte is not text, then the error has its line", async () => {
  const bytes = Buffer.concat([Buffer.from("email\nann@example.com\n"), Buffer.from("Zo\u00eb\n", "latin1")]);
  await expect(read(bytes)).rejects.toThrow("in.csv:3: the text is neither UTF-8 nor UTF-16 with a byte order mark");
});

it.each([
  [gzipSync("email\n"), "in.csv is compressed with gzip twice", "gunzip -k "],
  [Buffer.from("PK\x03\x04\0\0"), "in.csv is a zip archive", "unpack it"],
  [Buffer.from("PK\x03\x04\x14\0\x06\0xx[Content_Types].xml"), "in.csv is an Excel workbook", "CSV UTF-8"],
  [Buffer.from("%PDF-1.7\n%\n"), "in.csv is a PDF document", "CSV"],
  [Buffer.from('[{"email":"a@x.co"},{"email":"b@x.co"}]\n'), "in.csv:1: two objects are on one line", "jq -c"],
  [Buffer.from("email,name\rann@example.com,Ann\r"), "in.csv:1: the lines end in a lone carriage return", "tr '\\r'"],
  [Buffer.from('email,name\rann@example.com,"A\n\n\nB"\r'), "in.csv:1: the lines end in a lone carriage", "tr"],
  [Buffer.concat([little, Buffer.from([0])]), "in.csv:3: UTF-16LE that is broken near byte", "CSV UTF-8"],
  [Buffer.from([0xfe, 0xff, 0xd8, 0x00, 0x00, 0x41]), "in.csv:1: UTF-16BE that is broken near byte", "CSV UTF-8"],
  [Buffer.from("email\nann\0@example.com\n"), "in.csv:2: the text contains a zero byte", "tr -d '\\000' "],
])("when the bytes are %j, then it says what to do", async (bytes, message, hint) => {
  await expect(read(bytes)).rejects.toMatchObject({
    message: expect.stringContaining(message),
    hint: expect.stringContaining(hint),
  });
});

it.each([
  [Buffer.from("email\nZo\u00eb\n", "latin1"), "in.csv:2", "WINDOWS-1252"],
  [Buffer.from("email\n", "utf16le"), "in.csv:1", "UTF-16LE"],
  [Buffer.from("email\n", "utf16le").swap16(), "in.csv:1", "UTF-16BE"],
])("when the bytes are %j, then it says what they may be", async (bytes, place, encoding) => {
  await expect(read(bytes)).rejects.toMatchObject({
    message: expect.stringContaining(`${place}: the text is neither UTF-8 nor UTF-16 with a byte order mark`),
    fix: { kind: "encoding", encoding },
  });
});

it("no encoding is proposed that the file isn't in either", async () => {
  await expect(read(Buffer.from("email\nZo\xeb \x81\n", "latin1"))).rejects.toMatchObject({
    message: expect.stringContaining("in.csv:2: the text is neither UTF-8 nor UTF-16") as string,
    fix: null,
  });
});

it.each([
  ["utf-8", "ab€cdé"],
  ["utf-16le", "ab€cdé"],
  ["utf-16be", "a𝄞b€"],
  ["windows-1252", "ab€cd–"],
])("%s is read the same in pieces of any size, and wrong bytes are found", async (encoding, text) => {
  const bytes = encode(text, encoding);
  const bad = Buffer.concat([bytes, WRONG[encoding] ?? Buffer.of(0xff), encode("xyz", encoding)]);
  const unit = encoding.startsWith("utf-16") ? 2 : 1;
  // In UTF-16 the offset isn't exact if a chunk ends within a character.
  const offset = unit === 1 ? { offset: bytes.length } : {};
  for (let size = 2; size <= bad.length; size += unit) {
    expect(await decoded(inPieces(bytes, size), encoding)).toBe(text);
    await expect(decoded(inPieces(bad, size), encoding)).rejects.toMatchObject({ encoding, ...offset });
  }
});

/** Half a surrogate pair, and an undefined byte. */
const WRONG: Readonly<Record<string, Buffer>> = {
  "utf-16le": Buffer.of(0x00, 0xdc),
  "utf-16be": Buffer.of(0xdc, 0x00),
  "windows-1252": Buffer.of(0x81),
};

function encode(text: string, encoding: string): Buffer {
  if (encoding === "windows-1252") return Buffer.from(text.replace("€", "\x80").replace("–", "\x96"), "latin1");
  const bytes = Buffer.from(text, encoding === "utf-8" ? "utf8" : "utf16le");
  return encoding === "utf-16be" ? bytes.swap16() : bytes;
}

async function decoded(chunks: AsyncIterable<Uint8Array>, encoding: string): Promise<string> {
  const all: Buffer[] = [];
  for await (const bytes of toUtf8(chunks, encoding)) all.push(bytes);
  return Buffer.concat(all).toString();
}

async function* inPieces(bytes: Buffer, size: number): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}
