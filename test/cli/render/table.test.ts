import { stripVTControlCharacters } from "node:util";
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { openListOutput } from "../../../src/cli/render/list-output.ts";
import { writeRecord } from "../../../src/cli/render/record-output.ts";
import { segmentsResource } from "../../../src/cli/commands/metrics/metrics-resource.ts";
import { PEOPLE, RESPONSES } from "../../../src/cli/render/resources.ts";
import { createTextMeasure } from "../../../src/cli/render/text-measure.ts";
import { pathColumn, type Resource, toResource } from "../../../src/cli/render/columns.ts";
import type { JsonObject } from "../../../src/contract/json.ts";
import { fakeDeps, type FakeOptions } from "../../helpers/fake-deps.ts";
import { asPage, SAMPLE_PEOPLE, SAMPLE_RESPONSES } from "../../helpers/sample-rows.ts";

const TEXTS = toResource("texts", { locale: "text", thank_you_link: "text" });

async function list(
  resource: Resource,
  rows: readonly JsonObject[],
  options: FakeOptions,
): Promise<{ out: string; err: string }> {
  const { deps, out, err } = fakeDeps(options);
  const output = await openListOutput(deps, { resource });
  if (rows.length > 0) await output.write(asPage(rows));
  await output.end();
  return { out: out(), err: err() };
}

describe("lists, as golden files (vitest run test/cli/render -u rewrites them)", () => {
  const outfits = [60, 80, 120, 200, null];
  const cases = { people: [PEOPLE, SAMPLE_PEOPLE], responses: [RESPONSES, SAMPLE_RESPONSES] } as const;
  it.each(outfits.flatMap((width) => Object.keys(cases).map((name) => [name as keyof typeof cases, width] as const)))(
    "%s, %s columns wide",
    async (name, width) => {
      const [resource, rows] = cases[name];
      const { out, err } = await list(resource, rows, { width });
      const place = width === null ? "pipe" : `terminal-${width}`;
      await expect(`${out}--- stderr\n${err}`).toMatchFileSnapshot(`../../golden/tables/${name}-${place}.txt`);
    },
  );

  it("with colour, only where it means something", async () => {
    const { out } = await list(RESPONSES, SAMPLE_RESPONSES, { width: 80, options: { color: true } });
    await expect(out).toMatchFileSnapshot("../../golden/tables/responses-colour.txt");
  });
});

/** Properties that every object inherits. */
const INHERITED = ["constructor", "toString", "valueOf"];

describe("fields that the service decides on", () => {
  const sent = Object.fromEntries(INHERITED.map((name) => [name, 1]));

  it("when they are called like what every object has, then a table shows them", async () => {
    const open: Resource = { noun: "metrics", columns: [], table: [], dropFirst: [], fields: [], open: true };
    expect(await list(open, [sent], { width: 80, options: { columns: INHERITED } })).toEqual({
      out: "CONSTRUCTOR  TOSTRING  VALUEOF\n1            1         1\n",
      err: "",
    });
  });

  it("when they are called like what every object has, then a record shows them", async () => {
    const { deps, out } = fakeDeps({ width: 80, options: { color: true } });
    await writeRecord(deps, { ...PEOPLE, columns: [] }, { json: sent, text: JSON.stringify(sent) });
    expect(stripVTControlCharacters(out())).toBe("constructor  1\ntoString     1\nvalueOf      1\n");
  });
});

describe("a table", () => {
  const measure = createTextMeasure();

  it.each([30, 40, 50, 60, 80, 120])("is never wider than a terminal of %i columns", async (width) => {
    const people = await list(PEOPLE, SAMPLE_PEOPLE, { width });
    const responses = await list(RESPONSES, SAMPLE_RESPONSES, { width });
    const wider = `${people.out}${responses.out}`.split("\n").filter((line) => measure.width(line) > width);
    expect(wider).toEqual([]);
  });

  it("shows the columns that were asked for and says what had no room", async () => {
    const columns = ["name", "created_at", "email", "last_sent_at"];
    expect(await list(PEOPLE, SAMPLE_PEOPLE.slice(0, 1), { width: 50, options: { columns } })).toEqual({
      out: "NAME          CREATED\nAda Lovelace  2026-01-01 00:00:00\n",
      err: "note: 2 columns hidden (last_sent_at, email); -o record shows them all\n",
    });
  });

  it("gives up columns without a value before those that have some", async () => {
    const rows = [{ id: "1", email: "ada@example.com", name: "Ada", created_at: 0, phone_number: "+14155550101" }];
    expect(await list(PEOPLE, rows, { width: 70 })).toEqual({
      out: "ID  EMAIL            NAME  PHONE         CREATED\n1   ada@example.com  Ada   +14155550101  1970-01-01 00:00:00\n",
      err: "",
    });
  });

  it("keeps the columns of a list that differ from zero, and never cuts a URL", async () => {
    const resource: Resource = {
      noun: "webhooks",
      columns: ["url", "saved", "failed"].map((name) => pathColumn(name, name === "url" ? "text" : "number")),
      table: ["url", "saved", "failed"],
      dropFirst: ["failed", "saved"],
      fields: [],
    };
    const url = "https://hooks.example.com/surveys/of/ours?token=aW50ZXJuYWw&since=2026-11-26";
    const rows = [
      { url, saved: 0, failed: 2 },
      { url: "https://b.example", saved: 0, failed: 0 },
    ];
    const { out } = await list(resource, rows, { width: url.length + 10 });
    expect(out.split("\n").map((line) => line.split(/ +/))).toEqual([
      ["URL", "FAILED"],
      [url, "2"],
      ["https://b.example", "0"],
      [""],
    ]);
    expect((await list(resource, rows, { width: 40 })).out).toContain(url);
    const texts = { locale: "de", thank_you: "Danke! ".repeat(9), thank_you_link: url };
    expect((await list(TEXTS, [texts], { width: 80 })).out).toContain(url);
  });

  it("drops both ends of an interval, and a phone number before a name", async () => {
    const row = { property: "plan", value: "enterprise", n: 120, share: 0.5, nps: 12.5, nps_low: -1.5, nps_high: 26 };
    expect((await list(segmentsResource(false), [row], { width: 40 })).out).toBe(
      "PROPERTY  VALUE         N   NPS\nplan      enterprise  120  12.5\n",
    );
    const people = [{ id: "1", email: "ada@example.com", name: "Ada", phone_number: "+14155550101" }];
    expect((await list(PEOPLE, people, { width: 30 })).out).toBe(
      "ID  EMAIL            NAME\n1   ada@example.com  Ada\n",
    );
  });

  it("keeps the first of columns that are all zero", async () => {
    const names = ["period", "surveys", "reminders", "held"];
    const columns = names.map((name) => pathColumn(name, name === "period" ? "text" : "number"));
    const resource: Resource = { noun: "periods", columns, table: names, dropFirst: [], fields: [] };
    const rows = [{ period: "2026-01-31", surveys: 0, reminders: 0, held: 0 }];
    expect((await list(resource, rows, { width: 32 })).out).toBe(
      "PERIOD      SURVEYS  REMINDERS\n2026-01-31        0          0\n",
    );
  });

  it("says under --verbose which columns are hidden", async () => {
    const rows = [{ id: "1", email: "ada@example.com", name: "Ada", created_at: 0, phone_number: "+14155550101" }];
    const { err } = await list(PEOPLE, rows, { width: 50, options: { verbosity: 1 } });
    expect(err).toBe(
      "note: 4 columns hidden (last_responded_at, last_sent_at, next_survey_scheduled_at, created_at); select with --columns\n",
    );
    expect((await list(PEOPLE, rows, { width: 80, options: { verbosity: 1 } })).err).toBe(
      "note: 2 columns hidden (last_responded_at, last_sent_at); select with --columns\n",
    );
  });

  const LONG = "The support was quick and kind, and nobody had to be asked twice for the same thing.";
  const wide = [
    {
      id: "1",
      score: 9,
      person: { id: "2", email: "ada@example.com", name: "Ada" },
      comment: LONG,
      created_at: 0,
      tags: [],
      person_properties: { plan: "enterprise", region: "EMEA" },
    },
  ];

  it("gives the comment the room of lesser columns, those without a value first", async () => {
    expect((await list(RESPONSES, wide, { width: 100 })).out).toBe(
      [
        "ID  SCORE  PERSON EMAIL     COMMENT                                              CREATED",
        "1       9  ada@example.com  The support was quick and kind, and nobody had to …  1970-01-01 00:00:00",
        "",
      ].join("\n"),
    );
  });

  it("wraps the comment where it is asked to", async () => {
    const { deps, out } = fakeDeps({ width: 60 });
    const output = await openListOutput(deps, { resource: RESPONSES, wrap: true });
    await output.write(asPage(wide));
    await output.end();
    expect(out().split("\n").slice(1)).toEqual([
      "1       9  ada@example.com  The support was quick and kind,",
      "                            and nobody had to be asked twice",
      "                            for the same thing.",
      "",
    ]);
  });

  it("says nothing under --quiet", async () => {
    expect((await list(PEOPLE, SAMPLE_PEOPLE, { width: 60, options: { quiet: true } })).err).toBe("");
  });

  it("without rows is a note, on a terminal only", async () => {
    expect(await list(PEOPLE, [], { width: 80 })).toEqual({ out: "", err: "no people\n" });
    expect(await list(PEOPLE, [], { width: null })).toEqual({ out: "", err: "" });
  });

  it("continues with the same widths when more pages come than decide them", async () => {
    const { deps, out } = fakeDeps({ width: 80, options: { columns: ["id", "name"] } });
    const output = await openListOutput(deps, { resource: PEOPLE });
    await output.write(asPage(Array.from({ length: 500 }, () => ({ id: "1", name: "Ada" }))));
    await output.write(asPage([{ id: "1", name: "Hubert Blaine" }]));
    await output.end();
    expect(out().split("\n").slice(499)).toEqual(["1   Ada", "1   Ada", "1   Hub…", ""]);
  });

  it("refuses an unknown column before anything is written", async () => {
    await expect(list(PEOPLE, SAMPLE_PEOPLE, { options: { columns: ["mail"] } })).rejects.toThrow(
      '--columns: "mail" is not a column of people',
    );
  });
});

describe("records", () => {
  const rows = [
    { id: "1", email: "ada@example.com", name: "Ada" },
    { id: "2", email: "bob@example.com", later: 7 },
  ];
  const columns = ["id", "name"];

  it("are one block a row", async () => {
    expect(await list(PEOPLE, rows, { options: { output: "record", columns } })).toEqual({
      out: [
        "-[ RECORD 1 ]---------------------------",
        "id    1",
        "name  Ada",
        "-[ RECORD 2 ]---------------------------",
        "id    2",
        "name  –",
        "",
      ].join("\n"),
      err: "",
    });
  });

  it("have every column, and what the service sent besides", async () => {
    const { out } = await list(PEOPLE, rows, { options: { output: "record", unicode: false } });
    expect(lines(`\n${out}`, / +/).slice(-9)).toEqual([
      ["id", "2"],
      ["email", "bob@example.com"],
      ["name", "-"],
      ["created_at", "-"],
      ["phone_number", "-"],
      ["last_sent_at", "-"],
      ["last_responded_at", "-"],
      ["next_survey_scheduled_at", "-"],
      ["later", "7"],
    ]);
  });

  it("let long text continue below itself on a terminal, and nowhere else", async () => {
    const comment = "one two three four five six seven eight nine ten";
    const shown = async (width: number | null): Promise<string> =>
      (await list(RESPONSES, [{ comment }], { width, options: { output: "record", columns: ["comment"] } })).out;
    expect((await shown(40)).split("\n").slice(1)).toEqual([
      "comment  one two three four five six",
      "         seven eight nine ten",
      "",
    ]);
    expect((await shown(null)).split("\n").slice(1)).toEqual([`comment  ${comment}`, ""]);
  });

  it("refuse an unknown column before anything is written, and say when there is nothing", async () => {
    await expect(list(PEOPLE, [], { options: { output: "record", columns: ["mail"] } })).rejects.toThrow('"mail"');
    expect(await list(PEOPLE, [], { width: 80, options: { output: "record" } })).toEqual({
      out: "",
      err: "no people\n",
    });
  });
});

describe("on a terminal", () => {
  const hostile = [{ ...SAMPLE_PEOPLE[0], name: "a\u001b[31mb\u009b2Jc\u202ed\u007f" }];

  it.each(["table", "record", "json", "ndjson", "csv", "tsv"] as const)(
    "%s lets no control character through",
    async (output) => {
      const { out } = await list(PEOPLE, hostile, { width: 300, options: { output } });
      expect(out).not.toMatch(/[^\P{Cc}\n\t]|\u202e/u);
      expect(out).toContain("u001b[31mb\\u009b2Jc\\u202ed\\u007f");
    },
  );

  it("ndjson is the same value all the same", async () => {
    const { out } = await list(PEOPLE, hostile, { width: 300, options: { output: "ndjson" } });
    expect(JSON.parse(out)).toEqual(hostile[0]);
  });
});

it("when any rows are shown, then table, json and csv show the same ones", async () => {
  const word = fc.stringMatching(/^[a-z0-9]{1,8}$/);
  const row = fc.record({ id: word, name: word, email: word });
  await fc.assert(
    fc.asyncProperty(fc.array(row, { minLength: 1, maxLength: 20 }), async (rows) => {
      const columns = ["id", "name", "email"];
      const shown = async (output: "table" | "json" | "csv"): Promise<string> =>
        (await list(PEOPLE, rows, { width: 80, options: { output, columns } })).out;
      const cells = rows.map(({ id, name, email }) => [id, name, email]);
      expect(lines(await shown("table"), / +/)).toEqual(cells);
      expect(lines(await shown("csv"), /,/)).toEqual(cells);
      expect(JSON.parse(await shown("json"))).toEqual(rows);
    }),
    { numRuns: 30 },
  );
});

function lines(text: string, separator: RegExp): string[][] {
  const [, ...rows] = text.trimEnd().split("\n");
  return rows.map((line) => line.split(separator));
}
