import { parse } from "csv-parse/sync";
import { stringify } from "csv-stringify/sync";
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { pathColumn, propertyColumn, selectColumns, type Column } from "../../../src/cli/render/columns.ts";
import { createEncoder, type EncoderOptions } from "../../../src/cli/render/encoders.ts";
import { BOUNCES, MEMBERS, PEOPLE, RESPONSES } from "../../../src/cli/render/resources.ts";
import type { JsonObject } from "../../../src/contract/json.ts";
import { guardFormula, withoutGuard } from "../../../src/contract/text/formula-guard.ts";
import { anyText } from "../../helpers/any-text.ts";
import { asPage, SAMPLE_RESPONSES } from "../../helpers/sample-rows.ts";

const PLAIN = { columns: null, time: null, zone: "UTC", now: 0 } as const;

function encode(
  options: Partial<EncoderOptions> & Pick<EncoderOptions, "format">,
  ...pages: (readonly JsonObject[])[]
): string {
  const encoder = createEncoder({
    ...PLAIN,
    stringify: options.format === "csv" ? stringify : null,
    ...options,
  });
  const texts = pages.filter((rows) => rows.length > 0).map((rows) => encoder.rows(asPage(rows)));
  return encoder.head + texts.join(encoder.between) + encoder.tail(pages.flat().length);
}

const named = (names: readonly string[]): JsonObject[] => names.map((name) => ({ name }));

const columns = (...names: string[]): readonly Column[] => selectColumns(RESPONSES, names);

describe("csv", () => {
  it("has the fixed columns, ISO times in UTC, maps and arrays as JSON", () => {
    expect(encode({ format: "csv", columns: RESPONSES.columns }, SAMPLE_RESPONSES.slice(0, 3))).toBe(
      [
        "id,person_id,person_email,person_name,survey_type,score,comment,permalink,created_at,updated_at,person_properties,notes,tags,additional_answers",
        '1,91,person1@example.com,Ada Lovelace,nps,10,"Great, really ""great""",https://survey.example.com/r/token1,2026-01-15T00:00:00Z,,"{""plan"":""pro"",""a.b"":""x""}",[],"[""happy"",""vip""]",[]',
        '2,92,person2@example.com,Ada Lovelace,nps,7,"It was fine.\n\nBut slow\ttoday \\ yesterday",https://survey.example.com/r/token2,2026-01-15T00:00:00Z,,,[],[],[]',
        '3,93,,,nps,0,"=HYPERLINK(""http://evil.example"")",https://survey.example.com/r/token3,2026-01-15T00:00:00Z,,,[],[],[]',
        "",
      ].join("\n"),
    );
  });

  it("has its header, and nothing else, when there are no rows", () => {
    expect(encode({ format: "csv", columns: BOUNCES.columns }, [])).toBe("person_id,email,name,bounced_at\n");
  });

  it("takes --excel and no header", () => {
    const rows = [{ id: "1", score: 5 }];
    expect(encode({ format: "csv", columns: columns("id", "score"), excel: true }, rows)).toBe(
      "\ufeffid,score\r\n1,5\r\n",
    );
    expect(encode({ format: "csv", columns: columns("id", "score"), header: false }, rows)).toBe("1,5\n");
    expect(encode({ format: "csv", columns: columns("id", "score"), header: false, excel: true }, rows)).toBe(
      "1,5\r\n",
    );
  });

  it("guards formulas under --excel, but neither phones nor numbers", () => {
    const rows = ["=1+1", "+1", "-1", "@x", "\tx", "\rx", "x=1", ""].map((name) => ({
      name,
      phone_number: "+14155550101",
      nps: -20,
    }));
    const chosen = [pathColumn("name"), pathColumn("phone_number"), pathColumn("nps", "number")];
    expect(encode({ format: "csv", columns: chosen, excel: true, header: false }, rows)).toBe(
      ["'=1+1", "'+1", "'-1", "'@x", "'\tx", '"\'\rx"', "x=1", ""]
        .map((name) => `${name},+14155550101,-20\r\n`)
        .join(""),
    );
  });

  it.each<EncoderOptions["format"]>(["csv", "tsv"])(
    "guards formulas behind quotes, blanks and line ends, and of full width, in %s",
    (format) => {
      const texts = [
        "\n=1",
        " =1",
        "＝1",
        "＋1",
        "－1",
        "＠x",
        '"=1"',
        '""=1',
        ' "\u200b-1',
        "\u0001=1",
        "'=1",
        "''=1",
      ];
      const harmless = ['"well" said', "a =1", "'tis", " x", "{=}"];
      const options = { format, columns: [pathColumn("name")], header: false };
      const guarded = [...texts.map((text) => `'${text}`), ...harmless];
      const excel = encode({ ...options, excel: true }, named([...texts, ...harmless]));
      expect(excel.replaceAll("\r\n", "\n")).toBe(encode(options, named(guarded)));
    },
  );

  it("guards every text in a way that an import takes back", () => {
    const start = fc.array(fc.constantFrom("'", '"', "\n", "\r", "\t", " ", "=", "＝", "-", "\u200b"), {
      maxLength: 4,
    });
    fc.assert(
      fc.property(start, anyText, (signs, rest) => {
        const text = signs.join("") + rest;
        expect(withoutGuard(guardFormula(text))).toBe(text);
      }),
    );
  });

  it("never writes a blank line, which would be no row", () => {
    expect(
      encode({ format: "csv", columns: columns("comment"), header: false }, [{ comment: null }, { comment: "x" }]),
    ).toBe('""\nx\n');
  });

  it("writes maps and arrays as the JSON that they are, quoted only where they must be", () => {
    fc.assert(
      fc.property(fc.jsonValue(), anyText, (value, text) => {
        const person_properties = { [text]: value, "\ud800": '"\\\n,' };
        const csv = encode({ format: "csv", columns: columns("person_properties"), header: false }, [
          { person_properties } as JsonObject,
        ]);
        expect(csv).toBe(`"${JSON.stringify(person_properties).replaceAll('"', '""')}"\n`);
      }),
    );
    const rows = [
      { tags: [], person_properties: {} },
      { tags: [1] },
      { tags: [1, 2] },
      { tags: [null] },
      { tags: [""] },
    ];
    expect(encode({ format: "csv", columns: columns("tags", "person_properties"), header: false }, rows)).toBe(
      '[],{}\n[1],\n"[1,2]",\n[null],\n"[""""]",\n',
    );
  });

  it("reaches inside maps, for any key", () => {
    const rows = [
      { person_properties: { "a.b": "dotted", a: { b: "nested" }, __proto__: 1 } },
      { person_properties: { a: { b: "nested" } } },
    ];
    const chosen = [
      ...columns("person_properties.a.b", "person_properties.constructor"),
      propertyColumn("person_properties", "a.b"),
    ];
    expect(encode({ format: "csv", columns: chosen, header: false }, rows)).toBe("dotted,,dotted\nnested,,\n");
  });
});

describe("tsv", () => {
  it("has no header, and escapes what would break a line or a cell", () => {
    const rows = [
      { id: "1", comment: "a\tb\nc\rd\\e" },
      { id: "2", comment: null },
    ];
    expect(encode({ format: "tsv", columns: columns("id", "comment", "created_at") }, rows)).toBe(
      "1\ta\\tb\\nc\\rd\\\\e\t\n2\t\t\n",
    );
  });

  it("quotes a cell that begins with a quote, so that no reader takes the next lines into it", () => {
    const comments = ['"Great" they said', "x", '"', 'a "b"', '""', "y"];
    const text = encode(
      { format: "tsv", columns: columns("comment", "id") },
      comments.map((comment) => ({ id: "1", comment })),
    );
    expect(text.split("\n").slice(0, 4)).toEqual(['"""Great"" they said"\t1', "x\t1", '""""\t1', 'a "b"\t1']);
    expect(unquoteTsv(text).map(([comment]) => comment)).toEqual(comments);
  });
});

const LOSSLESS = '{ "id": "1", "score": 9.0, "big": 12345678901234567890, "a": 1, "a": 2, "later": {"x": "\\u00e9"} }';
const lossless = { rows: [JSON.parse(LOSSLESS) as JsonObject], text: `[\n  ${LOSSLESS.replace(", ", ",\n    ")}\n]` };

describe("json and ndjson", () => {
  it("keep a row's own text: numbers, order, repeated and unknown fields", () => {
    const json = createEncoder({ ...PLAIN, stringify: null, format: "json" });
    expect(json.head + json.rows(lossless) + json.between + json.rows(lossless) + json.tail(2)).toBe(
      `[\n${LOSSLESS.replace(", ", ",\n    ")},\n${LOSSLESS.replace(", ", ",\n    ")}\n]\n`,
    );
    const ndjson = createEncoder({ ...PLAIN, stringify: null, format: "ndjson" });
    expect(ndjson.head + ndjson.rows(lossless) + ndjson.tail(1)).toBe(`${LOSSLESS.replace(", ", ",")}\n`);
  });

  it("are [] and nothing when there are no rows", () => {
    expect([encode({ format: "json" }), encode({ format: "json" }, [], []), encode({ format: "ndjson" }, [])]).toEqual([
      "[]\n",
      "[]\n",
      "",
    ]);
  });

  it("show the columns that were asked for, by name and in order", () => {
    const rows = [{ id: "1", person: { id: "7", email: "a@b.co" }, score: 9, created_at: 1_767_225_600 }];
    expect(encode({ format: "ndjson", columns: columns("score", "person.email", "comment") }, rows)).toBe(
      '{"score":9,"person.email":"a@b.co","comment":null}\n',
    );
  });

  it("rewrite times everywhere but in the customer's own maps under --time", () => {
    const rows = [
      {
        created_at: 0,
        updated_at: null,
        person: { created_at: 60 },
        notes: [{ created_at: 1 }],
        person_properties: { created_at: 5 },
        score: 3,
      },
    ];
    expect(encode({ format: "ndjson", time: "iso" }, rows)).toBe(
      '{"created_at":"1970-01-01T00:00:00Z","updated_at":null,"person":{"created_at":"1970-01-01T00:01:00Z"},' +
        '"notes":[{"created_at":"1970-01-01T00:00:01Z"}],"person_properties":{"created_at":5},"score":3}\n',
    );
    expect(
      encode({ format: "ndjson", time: "iso", columns: columns("created_at", "person_properties", "score") }, rows),
    ).toBe('{"created_at":"1970-01-01T00:00:00Z","person_properties":{"created_at":5},"score":3}\n');
  });
});

describe("columns", () => {
  it("of responses and people are the contract's", () => {
    expect(RESPONSES.columns.map(({ name }) => name).join(", ")).toBe(
      "id, person_id, person_email, person_name, survey_type, score, comment, permalink, created_at, updated_at, person_properties, notes, tags, additional_answers",
    );
    expect(PEOPLE.columns.map(({ name }) => name).join(", ")).toBe(
      "id, email, name, created_at, phone_number, last_sent_at, last_responded_at, next_survey_scheduled_at",
    );
  });

  it.each(["scor", "", "person_properties.", ".plan", "plan", "foo.bar"])(
    "%j is refused with the valid ones",
    (name) => {
      const valid = RESPONSES.columns.map((column) => column.name).join(", ");
      expect(() => selectColumns(RESPONSES, ["id", name])).toThrow(
        `--columns: "${name}" is not a column of responses; the columns are ${valid}`,
      );
    },
  );
});

const anyRow = fc.record({
  id: anyText,
  comment: fc.option(anyText),
  score: fc.integer({ min: 0, max: 10 }),
  tags: fc.array(anyText, { maxLength: 3 }),
});

it("when any rows are written, then csv, tsv and json hold the same ones", () => {
  const names = ["id", "comment", "score", "tags"];
  fc.assert(
    fc.property(fc.array(anyRow, { maxLength: 8 }), (rows) => {
      const json = JSON.parse(encode({ format: "json", columns: columns(...names) }, rows)) as JsonObject[];
      const cells = json.map((row) =>
        names.map((name) => (typeof row[name] === "string" ? row[name] : JSON.stringify(row[name] ?? ""))),
      );
      const expected = cells.map((row) => row.map((cell) => (cell === '""' ? "" : cell)));
      const csv = parse(encode({ format: "csv", columns: columns(...names), header: false }, rows), {
        record_delimiter: "\n",
      });
      const tsv = unquoteTsv(encode({ format: "tsv", columns: columns(...names) }, rows)).map((line) =>
        line.map(unescapeTsv),
      );
      expect([json, csv, tsv]).toEqual([
        rows.map((row) => JSON.parse(JSON.stringify(row)) as JsonObject),
        expected,
        expected,
      ]);
    }),
  );
});

/** Readers that support quotes do so only at the start of a cell. */
function unquoteTsv(text: string): string[][] {
  return parse(text, { delimiter: "\t", record_delimiter: "\n", relax_quotes: true });
}

function unescapeTsv(cell: string): string {
  const meant: Record<string, string> = { t: "\t", n: "\n", r: "\r", "\\": "\\" };
  return cell.replace(/\\(.)/g, (_, char: string) => meant[char] ?? "");
}

it("reaches inside a column that is elsewhere in the row", () => {
  const rows = [{ person: { id: "7" }, next_survey_request: { id: "9", properties: { plan: "pro", created_at: 5 } } }];
  const names = [
    "person_id",
    "properties.plan",
    "properties.created_at",
    "next_survey_request.properties.plan",
    "person.id",
  ];
  expect(encode({ format: "csv", columns: selectColumns(MEMBERS, names), header: false }, rows)).toBe(
    "7,pro,5,pro,7\n",
  );
});
