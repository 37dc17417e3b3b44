import { mkdir, readFile, stat, writeFile } from "node:fs/promises";
import path from "node:path";
import { gzipSync } from "node:zlib";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { isLong, size } from "../../helpers/long.ts";
import { runCli, startProgram } from "../../helpers/run-cli.ts";
import { createPast, WHOLE_SHAPES } from "../../helpers/past.ts";
import { openPastStore, type PastStore } from "../../helpers/past-store.ts";
import { resubscribeByLink, unsubscribeByLink } from "../../../src/service/domain/answers/answers.ts";
import type { Store } from "../../../src/service/domain/ports.ts";
import { getMetrics } from "../../../src/service/domain/answers/metrics.ts";
import { addResponse } from "../../../src/service/domain/answers/responses.ts";
import { countContents } from "../../../src/service/domain/moving/moving.ts";
import { deletePerson, sendPerson } from "../../../src/service/domain/people/people.ts";
import { unsubscribe } from "../../../src/service/domain/people/suppressions.ts";
import type { Transaction } from "../../../src/service/domain/ports.ts";
import { claimAll, links, metricsQuery, responseInput, sendInput } from "../../service/domain/fixture.ts";
import { NOW } from "../../helpers/fake-deps.ts";

const project = { id: 1, name: "default" };
const KILLS = size(1, 20);
let store: PastStore;

beforeEach(async () => {
  store = await openPastStore();
});
afterEach(async () => store.close());

const response = (values: object): string =>
  `${JSON.stringify({ id: "10", person: "1", survey_type: "nps", score: 9, comment: null, created_at: NOW - 5000, updated_at: NOW - 5000, person_properties: {}, ...values })}\n`;
const ada = `${JSON.stringify({ id: "1", email: "ada@example.com", name: "Ada", created_at: NOW - 9000, phone_number: null, last_sent_at: null })}\n`;

describe("what comes in", () => {
  test("when people were asked or answered lately, then they are not asked again, and nothing is scheduled", async () => {
    await store.import({ "a.ndjson": response({}), "b.ndjson": ada });
    const sent = await store.service.store.write(
      (tx) => sendPerson(tx, project, sendInput({ email: "ada@example.com" })),
      { project: "all" },
    );
    expect(sent).toMatchObject({ created: false, person: { id: "1", survey_scheduled_at: null } });
    expect((await store.dump()).messages).toEqual([]);
  });

  test("when a response had a permalink, then it is kept with the response and is no property of it", async () => {
    const permalink = "https://closed.example/r/abc";
    await store.import({ "a.ndjson": response({ permalink }), "b.ndjson": ada });
    const { responses } = await store.dump();
    expect(responses?.map((row) => [row.imported_permalink, row.person_properties])).toEqual([[permalink, "{}"]]);
  });

  test("when responses without ids have further answers, then each answer has an id, and the same again changes nothing", async () => {
    const rows = ["ada", "bo"].map((name) => `${name}@example.com,9,2026-01-02T03:04:05Z,Shop\n`);
    const files = { "a.csv": `email,score,created_at,answers.where\n${rows.join("")}` };
    await store.import(files);
    const again = await store.import(files);
    expect(JSON.parse(again.out)).toMatchObject({
      streams: [{ stream: "responses", kept: 0, unchanged: 2, conflicts: 0 }],
    });
    const { responses } = await store.dump();
    const ids = responses?.map(({ id, additional_answers: answers }) => [id, JSON.parse(String(answers))[0].id]);
    expect(ids).toEqual(responses?.map(({ id }) => [id, `${Number(id)}-where`]));
  });

  test("when updated_at is to be now, then readers by it find the responses, and the same again changes nothing", async () => {
    const files = { "a.ndjson": response({}), "b.ndjson": ada };
    await store.import(files, { updatedAt: "now" });
    const again = await store.import(files, { updatedAt: "now" });
    const { responses } = await store.dump();
    expect([
      responses?.map((row) => [row.created_at, row.updated_at]),
      (JSON.parse(again.out) as { streams: object[] }).streams,
    ]).toEqual([
      [[NOW - 5000, NOW]],
      ["people", "responses"].map((stream) => expect.objectContaining({ stream, unchanged: 1, conflicts: 0 })),
    ]);
  });

  test("when a file is gzipped, then it is read as what is in it, and a cut one is refused", async () => {
    const packed = gzipSync(ada + ada.replace('"1"', '"2"').replace("ada@", "eve@"));
    expect(await store.import({ "people.ndjson.gz": packed, "a.json": response({}) })).toMatchObject({ exit: 0 });
    const cut = await store.import({ "cut.ndjson.gz": packed.subarray(0, -12) });
    expect([cut.exit, cut.error]).toEqual([null, "cut.ndjson.gz: not a complete gzip file (unexpected end of file)"]);
    const { people } = await store.dump();
    expect(people?.map(({ id, email }) => [id, email])).toEqual([
      [1, "ada@example.com"],
      [2, "eve@example.com"],
    ]);
  });

  test("when history comes on standard input, then it is stored, and lines are named there", async () => {
    const text = `${ada}${JSON.stringify({ id: "2", email: "no address", created_at: 1 })}\n`;
    const seen = await store.import({}, { paths: ["-"], stdin: text });
    expect([seen.exit, seen.err]).toEqual([3, expect.stringContaining("standard input:2: email")]);
    const packed = await store.import({}, { paths: ["-"], stdin: gzipSync(ada) });
    expect(JSON.parse(packed.out)).toMatchObject({ streams: [{ stream: "people", unchanged: 1 }] });
  });

  test("when somebody had left, then they are not asked, also where the file of people comes first", async () => {
    const left = `${JSON.stringify({ person_id: "1", email: "ada@example.com", unsubscribed_at: NOW - 90 * 86_400 })}\n`;
    const seen = await store.import({ "a.ndjson": ada.replace(String(NOW - 9000), "1600000000"), "b.ndjson": left });
    expect(seen).toMatchObject({ exit: 0, error: null });
    const sent = await store.service.store.write(
      (tx) => sendPerson(tx, project, sendInput({ email: "ADA@example.com" })),
      { project: "all" },
    );
    expect(sent.person.survey_scheduled_at).toBeNull();
  });

  test("when scores of other survey types come in, then the score leaves them out", async () => {
    const rows = [9, 9, 3].map((score, at) => response({ id: String(20 + at), score }));
    const other = response({ id: "30", score: 1, survey_type: "csat" });
    const { out } = await store.import({ "a.ndjson": [...rows, other].join(""), "b.ndjson": ada });
    expect(JSON.parse(out)).toMatchObject({ nps: 33, responses: 3, people: 1 });
    const metrics = await store.service.store.read((tx) => getMetrics(tx, project, metricsQuery()));
    expect(metrics).toMatchObject({ nps: 33, response_count: 3 });
    expect((await store.service.store.read((tx) => tx.projects.counts(1))).responses).toBe(4);
  });

  test("when a response's person was not saved, then one without an address is made for it", async () => {
    expect(await store.import({ "a.ndjson": response({ person: "77" }) })).toMatchObject({ exit: 0 });
    const { people } = await store.dump();
    expect(people).toEqual([expect.objectContaining({ id: 77, email: null, created_at: NOW - 5000 })]);
  });

  test("when an id leaves none above it, then the row is refused, and new people get ids as before", async () => {
    const rows = [2 ** 53 - 1, 2 ** 52 + 1, 2 ** 52].map((id) => `{"id":"${id}","email":"p${id}@example.com"}\n`);
    const seen = await store.import({ "a.ndjson": rows.join("") });
    expect([seen.exit, seen.err]).toEqual([
      3,
      [
        'a.ndjson:1: id "9007199254740991" is not a whole number from 1 to 4503599627370496\n',
        'a.ndjson:2: id "4503599627370497" is not a whole number from 1 to 4503599627370496\n',
      ].join(""),
    ]);
    const ids = [];
    for (const email of ["ada@example.com", "bo@example.com"]) {
      const sent = await store.service.store.write((tx) => sendPerson(tx, project, sendInput({ email, send: false })), {
        project: "all",
      });
      ids.push(sent.person.id);
    }
    expect(ids).toEqual(["4503599627370497", "4503599627370498"]);
  });

  test("when people came by the API before, then they keep their id and get their history", async () => {
    const send = sendInput({ email: "Ada@Example.com", send: false });
    const { person } = await store.service.store.write((tx) => sendPerson(tx, project, send), { project: "all" });
    const row = response({ person: "100" });
    const seen = await store.import({ "a.ndjson": ada.replace('"id":"1"', '"id":"100"'), "b.ndjson": row });
    expect(seen).toMatchObject({ exit: 0, error: null });
    expect(seen.err).toContain(`conflict: person 100 is person ${person.id} here, by e-mail or phone`);
    const { people, responses } = await store.dump();
    expect(people).toHaveLength(1);
    expect(responses).toEqual([expect.objectContaining({ id: 10, person_id: Number(person.id) })]);
  });

  test("when an id is somebody else's here, then the row and its responses are refused", async () => {
    const send = sendInput({ email: "bo@example.com", send: false });
    const { person } = await store.service.store.write((tx) => sendPerson(tx, project, send), { project: "all" });
    const own = ada.replace('"id":"1"', `"id":"${person.id}"`);
    const seen = await store.import({ "a.ndjson": own, "b.ndjson": response({ person: person.id }) });
    expect(seen.exit).toBe(3);
    expect(seen.err).toBe(
      `a.ndjson:1: id ${person.id} belongs to another person in this project\nb.ndjson:1: its person was refused\n`,
    );
    expect((await store.dump()).responses).toEqual([]);
  });
});

describe("a number that another response has here", () => {
  test.each(["keep", "replace"] as const)("when conflicts are to %s, then the row is refused", async (onConflict) => {
    const own = await store.service.store.write(
      async (tx) => {
        const { person } = await sendPerson(tx, project, sendInput({ email: "bo@example.com", send: false }));
        return addResponse(tx, project, responseInput({ personId: person.id, score: 3, comment: "Ours." }), links);
      },
      { project: "all" },
    );
    const seen = await store.import({ "a.ndjson": ada, "b.ndjson": response({ id: own.id }) }, { onConflict });
    expect([seen.exit, seen.err]).toEqual([
      3,
      `b.ndjson:1: id ${own.id} belongs to another response in this project\n`,
    ]);
    const { responses } = await store.dump();
    expect(responses?.map(({ id, score, comment }) => [id, score, comment])).toEqual([[Number(own.id), 3, "Ours."]]);
  });
});

describe("what belongs to somebody who was erased", () => {
  const person = { project: "default", email: "ada@example.com", phone_number: null, dry_run: false } as const;
  const erase = () =>
    store.service.admin({ kind: "erase", confirm: true, ...person, properties: false, forget_unsubscribe: false });

  test("when it comes in again, by id or by address, then it is listed and left out", async () => {
    const rows = [response({}), response({ id: "11", person: { id: "1", email: "Ada@example.com" } })].join("");
    const csv =
      "email,score,created_at\nada@example.com,9,2026-01-02T03:04:05Z\nbo@example.com,3,2026-01-02T03:04:05Z\n";
    const files = { "a.ndjson": ada, "b.ndjson": rows, "c.csv": csv };
    await store.import(files);
    await erase();
    const seen = await store.import(files);
    const left = "conflict: the person was erased here; the row is left out";
    expect({ exit: seen.exit, err: seen.err.split("\n").filter((line) => line.includes("conflict")) }).toEqual({
      exit: 0,
      err: [`a.ndjson:1: ${left}`, `b.ndjson:1: ${left}`, `b.ndjson:2: ${left}`, `c.csv:2: ${left}`],
    });
    expect(await store.service.store.check()).toEqual([]);
    const { people, responses } = await store.dump();
    expect(people).toEqual([expect.objectContaining({ email: "bo@example.com" })]);
    expect(responses).toEqual([expect.objectContaining({ score: 3 })]);
  });

  test("when the erasure came before the import, then an id of the source is not the way around it", async () => {
    await store.import({ "known.csv": "email,created_at\nada@example.com,2026-01-02T03:04:05Z\n" });
    await erase();
    await store.import({ "a.ndjson": ada, "b.ndjson": response({}) });
    const { people, responses } = await store.dump();
    expect([people, responses]).toEqual([[], []]);
  });

  test("when it is of a later time, then it comes in", async () => {
    await store.import({ "known.csv": "email,created_at\nada@example.com,2026-01-02T03:04:05Z\n" });
    await erase();
    const later = { created_at: NOW + 60 };
    await store.import({ "a.ndjson": `${JSON.stringify({ ...(JSON.parse(ada) as object), ...later })}\n` });
    expect((await store.dump()).people).toEqual([expect.objectContaining({ id: 1, email: "ada@example.com" })]);
  });
});

describe("the same once more", () => {
  test("when a stored row has other content, then it is listed and kept, or replaced when asked for", async () => {
    await store.import({ "a.ndjson": ada, "b.ndjson": response({}) });
    const changed = { "b.ndjson": response({ score: 2, comment: "Slow.", updated_at: NOW - 10 }) };
    const kept = await store.import(changed);
    expect({ exit: kept.exit, err: kept.err }).toEqual({
      exit: 0,
      err: "b.ndjson:1: conflict: response 10 is stored with another score, comment, updated_at\n",
    });
    expect((await store.import(changed, { onConflict: "replace" })).err).toBe("");
    expect((await store.import(changed)).err).toBe("");
    expect(await store.service.store.check()).toEqual([]);
    expect((await store.dump()).responses).toEqual([expect.objectContaining({ score: 2, comment: "Slow." })]);
  });

  test("when a stored time of leaving is replaced, then the link by which the person had left brings them back no more", async () => {
    const write = <Result>(work: (tx: Transaction) => Promise<Result>) =>
      store.service.store.write(work, { project: "all" });
    const { person } = await write((tx) => sendPerson(tx, project, sendInput({ email: "ada@example.com" })));
    const [survey] = await write(claimAll);
    await write((tx) => unsubscribeByLink(tx, survey!.unsubscribeToken));
    const row = { ...(JSON.parse(ada) as object), id: person.id, created_at: NOW, unsubscribed_at: NOW + 5 };
    const left = { "a.ndjson": `${JSON.stringify(row)}\n` };
    expect((await store.import(left, { onConflict: "replace" })).err).toBe("");
    expect(await write((tx) => resubscribeByLink(tx, survey!.unsubscribeToken))).toBe(false);
    expect((await store.dump()).people).toMatchObject([{ unsubscribed_at: NOW + 5, unsubscribed_by: null }]);
  });

  test("when rows have no ids, then person, time and score tell them apart", async () => {
    const csv =
      "email,score,created_at,plan\nada@example.com,9,2026-01-02T03:04:05Z,pro\nbo@example.com,9,2026-01-02T03:04:05Z,\n";
    await store.import({ "a.csv": csv }, { unknown: "properties" });
    const again = await store.import({ "a.csv": `${csv}ada@example.com,9,2026-01-02 03:04:05 UTC,pro\n` });
    expect(JSON.parse(again.out)).toMatchObject({ streams: [{ read: 3, kept: 0, merged: 1 }], people: 2 });
    expect((await store.dump()).responses).toHaveLength(2);
  });
});

describe("what is expected", () => {
  test("when figures are not those of the files, then nothing is written", async () => {
    const seen = await store.import(
      { "a.ndjson": ada, "b.ndjson": response({}) },
      {
        expectations: [
          { name: "nps", value: 51 },
          { name: "responses", value: 1 },
        ],
      },
    );
    expect(seen).toMatchObject({ exit: null, error: "assertion failed: nps=51 (nps is 100)" });
    expect((await store.dump()).people).toEqual([]);
  });

  test("when no response comes in, then there is no score, and no figure is right for it", async () => {
    const { out } = await store.import({ "a.ndjson": ada }, { check: true });
    expect(JSON.parse(out)).toMatchObject({ months: [], people: 1, nps: null, responses: 0 });
    const expectations = [
      { name: "nps", value: 0 },
      { name: "responses", value: 0 },
    ] as const;
    const seen = await store.import({ "a.ndjson": ada }, { expectations });
    expect(seen).toMatchObject({ exit: null, error: "assertion failed: nps=0 (no responses)" });
    expect((await store.dump()).people).toEqual([]);
  });

  test("when the files are only checked, then the mapping is shown and nothing is written", async () => {
    const csv = "E-Mail,Score,Survey Date,Region\nada@example.com,9,2026-01-02,EMEA\n";
    const seen = await store.import({ "a.csv": csv }, { check: true });
    expect(seen.err).toBe(
      "a.csv: csv responses\n  E-Mail -> email\n  Score -> score\n  Survey Date -> created_at\nnote: a.csv: columns not kept: Region (1 row)\nNothing was written.\n",
    );
    expect((await store.dump()).people).toEqual([]);
  });

  test("when a column of one's own CSV is mapped, then the file is no table of the API's", async () => {
    const csv = "Email,Score,When\nada@example.com,9,2026-01-02\n";
    const seen = await store.import({ "a.csv": csv }, { check: true, renames: [["When", "created_at"]] });
    expect(seen.err).toBe(
      "a.csv: csv responses\n  Email -> email\n  Score -> score\n  When -> created_at\nNothing was written.\n",
    );
  });

  test("when rows are refused, then each is named, and the report has all of them", async () => {
    const rows = [{ score: 11 }, { created_at: "soon" }, { id: "9007199254740993" }, {}].map(response).join("");
    const report = path.join(store.folder, "report.ndjson");
    const seen = await store.import({ "a.ndjson": ada, "b.ndjson": rows }, { report });
    const reasons = [
      "score 11 is not a whole number from 0 to 10",
      'created_at "soon" is not a time such as 2026-01-31, 2026-01-31T08:30:00Z or 1769848200',
      'id "9007199254740993" is not a whole number from 1 to 4503599627370496',
    ];
    expect(seen.exit).toBe(3);
    expect(seen.err).toBe(reasons.map((reason, at) => `b.ndjson:${at + 1}: ${reason}\n`).join(""));
    const lines = (await readFile(report, "utf8")).trim().split("\n");
    expect(lines.map((line) => (JSON.parse(line) as { reason: string }).reason)).toEqual(reasons);
    expect((await store.dump()).responses).toHaveLength(1);
  });

  test.for(["named", "in a folder"])(
    "when the report is a file to import, %s, then it is refused and kept",
    async (how) => {
      const folder = path.join(store.folder, "saved-1");
      const report = path.join(folder, "a.ndjson");
      const paths = [how === "named" ? report : folder];
      const seen = await store.import({ "a.ndjson": ada }, { paths, report });
      expect(seen).toMatchObject({
        exit: null,
        error: expect.stringMatching(/^--report: .*one of the files to import/),
      });
      expect(await readFile(report, "utf8")).toBe(ada);
      expect((await store.dump()).people).toEqual([]);
    },
  );

  test("when the report is the data file, then it is refused and kept", async () => {
    const [saved = "", dataFile = ""] = ["a.ndjson", "survey.db"].map((name) => path.join(store.folder, name));
    await writeFile(saved, ada);
    const before = (await stat(dataFile)).ino;
    const args = ["service", "import", saved, "--data", dataFile, "--report", dataFile];
    expect(await runCli({ args })).toMatchObject({
      status: 2,
      stderr: `error: --report: ${dataFile} is the data file itself; name another file\n`,
    });
    expect((await stat(dataFile)).ino).toBe(before);
  });
});

describe("values that cannot be stored", () => {
  const value = "holds a value that cannot be stored";
  test.for<[name: string, values: string, reason: string]>([
    ["a comment", String.raw`"comment":"\u0000"`, "comment holds a character that cannot be stored"],
    ["properties", String.raw`"person_properties":{"a":["\ud800"]}`, `person_properties ${value}`],
    ["the name of a property", String.raw`"person_properties":{"a\u0000":1}`, `person_properties ${value}`],
    ["a number too large", `"person_properties":{"a":1e999}`, `person_properties ${value}`],
    ["an answer", String.raw`"additional_answers":[{"id":"1","value":"\udc00"}]`, `additional_answers ${value}`],
  ])("when %s has one, then the row is refused", async ([, values, reason]) => {
    const row = `{"id":"11","person":"1","score":9,"created_at":${NOW - 5000},${values}}\n`;
    const escaped = response({ person_properties: { [String.raw`\u0000`]: String.raw`\ud800` } });
    const seen = await store.import({ "a.ndjson": row + escaped });
    expect([seen.exit, seen.err.split("\n")[0]]).toEqual([3, `a.ndjson:1: ${reason}`]);
    expect((await store.dump()).responses?.map(({ id, person_properties: kept }) => [id, kept])).toEqual([
      [10, String.raw`{"\\u0000":"\\ud800"}`],
    ]);
  });

  test("when a table of answers has one, then its row is refused", async () => {
    const answers = String.raw`[{"id":"1","response_id":"10","question_id":"q","free_response":"\u0000"}]`;
    const seen = await store.import({ "a.ndjson": response({}), "b.json": answers });
    expect([seen.exit, seen.err.split("\n")[0]]).toEqual([3, `b.json:1: free_response ${value}`]);
  });
});

describe("people whom only responses name", () => {
  const expanded = { id: "1", email: "ada@example.com", name: "Ada", created_at: NOW - 9000 };
  const unsubscribed = { person_id: "1", email: "ada@example.com", name: null, unsubscribed_at: NOW - 3000 };

  test("when no row has an address, then the person is stored with the id and reported", async () => {
    const seen = await store.import({ "a.ndjson": response({}) });
    expect([seen.exit, seen.err]).toEqual([0, "note: 1 person has no email or phone number, only an id\n"]);
    expect(await identityOf(store)).toEqual([[null, null, NOW - 5000]]);
  });

  test("when a later row has the address, then it is kept, with the name and the time", async () => {
    const rows = response({}) + response({ id: "11", created_at: NOW - 4000, person: expanded });
    expect(await store.import({ "a.ndjson": rows })).toMatchObject({ exit: 0, err: "" });
    expect(await identityOf(store)).toEqual([["ada@example.com", "Ada", NOW - 9000]]);
  });

  test("when they had unsubscribed, then the name and the time of their response are kept", async () => {
    const files = { "a.ndjson": response({ person: expanded }), "b.ndjson": JSON.stringify(unsubscribed) };
    await store.import(files);
    expect(await identityOf(store)).toEqual([["ada@example.com", "Ada", NOW - 9000]]);
  });

  test.for([
    ["people", ada],
    ["responses", response({ id: "11", created_at: NOW - 4000, person: expanded })],
  ] as const)("when %s bring a suppressed address, then it stays suppressed", async ([, rows]) => {
    await suppressAda(store);
    await store.import({ "a.ndjson": response({}) });
    await store.import({ "a.ndjson": rows });
    const sent = await store.service.store.write(
      (tx) => sendPerson(tx, project, sendInput({ email: "ada@example.com", lastSentAt: 1 })),
      { project: "all" },
    );
    expect(sent.person.survey_scheduled_at).toBeNull();
    const { people } = await store.dump();
    expect(people?.map((row) => [row.id, row.email, row.unsubscribed_at])).toEqual([[1, "ada@example.com", NOW]]);
  });

  test("when two rows of one import name a suppressed person, then the person stays suppressed", async () => {
    const named = JSON.stringify({ email: "ada@example.com", name: "Ada" });
    const bare = JSON.stringify({ id: "7", email: "ada@example.com", created_at: NOW - 9000 });
    await suppressAda(store);
    await store.import({ "a.ndjson": `${bare}\n${named}\n` });
    const { people } = await store.dump();
    expect(people?.map((row) => [row.id, row.name, row.unsubscribed_at])).toEqual([[7, "Ada", NOW]]);
  });
});

async function identityOf(past: PastStore): Promise<unknown[]> {
  return ((await past.dump()).people ?? []).map((row) => [row.email, row.name, row.created_at]);
}

function suppressAda({ service }: PastStore): Promise<unknown> {
  return service.store.write(
    async (tx) => {
      await sendPerson(tx, project, sendInput({ email: "ada@example.com", send: false }));
      await unsubscribe(tx, project, "ada@example.com");
      await deletePerson(tx, project, { by: "email", email: "ada@example.com" });
    },
    { project: "all" },
  );
}

describe("ids that are somebody else's here", () => {
  const left = { person_id: "2", email: "ada@example.com", name: "Ada", unsubscribed_at: NOW - 3000 };
  const person = { id: "2", email: "ada@example.com", name: "Ada", created_at: NOW - 9000 };
  test.for([
    ["alone", left, {}],
    ["beside its person", { ...left, unsubscribed_at: NOW + 1 }, { "b.ndjson": JSON.stringify(person) }],
  ] as const)("when an unsubscribe comes %s, then only its address is suppressed", async ([, row, files]) => {
    const { store: open } = store.service;
    await open.write((tx) => sendPerson(tx, project, sendInput({ email: "eve@example.com", send: false })), {
      project: "all",
    });
    const seen = await store.import({ "a.json": JSON.stringify([row]), ...files });
    expect(seen).toMatchObject({
      exit: 3,
      err: expect.stringContaining("a.json:1: id 2 belongs to another person in this project"),
    });
    const sent = await open.write((tx) => sendPerson(tx, project, sendInput({ email: "ada@example.com" })), {
      project: "all",
    });
    expect(sent.person.survey_scheduled_at).toBeNull();
    const { people } = await store.dump();
    expect(people?.map(({ email, name, unsubscribed_at: at }) => [email, name, at])).toEqual([
      ["eve@example.com", null, null],
      ["ada@example.com", null, row.unsubscribed_at],
    ]);
  });

  test("when whoever has the address is here under another id, then the rows are theirs", async () => {
    const { store: open } = store.service;
    for (const email of ["eve@example.com", "ada@example.com"])
      await open.write((tx) => sendPerson(tx, project, sendInput({ email, send: false })), { project: "all" });
    const files = {
      "a.json": JSON.stringify([left]),
      "b.ndjson": JSON.stringify(person),
      "c.ndjson": response({ person: "2" }) + response({ id: "11", person, created_at: NOW - 4000 }),
    };
    const seen = await store.import(files);
    expect([seen.exit, seen.err]).toEqual([
      0,
      expect.stringContaining("b.ndjson:1: conflict: person 2 is person 3 here"),
    ]);
    const { people, responses } = await store.dump();
    expect(people?.map(({ email, unsubscribed_at: at }) => [email, at])).toEqual([
      ["eve@example.com", null],
      ["ada@example.com", NOW - 3000],
    ]);
    expect(responses?.map((row) => row.person_id)).toEqual([3, 3]);
  });
});

describe("files that cannot be read", () => {
  const half = response({}).slice(0, 60);
  test.for([
    [
      "of no known shape",
      "a.csv",
      "Colour,Score\nred,9\n",
      "a.csv: not a known shape (columns: Colour, Score); nearest: csv responses, which needs person or person_id or email or phone_number, and created_at",
    ],
    [
      "cut off within its only row",
      "b.ndjson",
      half,
      "b.ndjson:1: an object that begins here has no end; the file is cut off",
    ],
    ["cut off within an array", "c.json", `[${response({})},`, "c.json:2: the array has no end; the file is cut off"],
    ["with a header twice", "c.csv", "email,Score,score\na@x.co,9,8\n", 'c.csv:1: two columns are called "score"'],
    [
      "with a bad quote in its header",
      "c.csv",
      '"email"s,score\n1,9\n',
      'c.csv:1: text follows a closing quote; a quote inside a field is written ""',
    ],
    ["that is no JSON", "d.json", '[{"id": "2"},\n{"id": 1,}]', "d.json:2: not valid JSON"],
    ["a JSON array of no objects", "d.json", "[1, 2]", "d.json:1: expected an object, found 1"],
    ["a JSON array of arrays", "d.json", '[["id"], ["1"]]', "d.json:1: expected an object, found ["],
  ] as const)("when one is %s, then its place is named and nothing is written", async ([, name, text, error]) => {
    const seen = await store.import({ "0.ndjson": ada, [name]: text });
    expect(seen).toMatchObject({ exit: null, error });
    expect((await store.dump()).people).toEqual([]);
  });

  test("rows of empty cells above the header are left out", async () => {
    const text = ",,\n\nemail,score,created_at\nann@example.com,9,2026-01-02\n";
    expect(await store.import({ "above.csv": text })).toMatchObject({ exit: 0, error: null });
    expect((await store.dump()).responses).toHaveLength(1);
  });

  test("when one is in another encoding, then its place is named and nothing is written", async () => {
    const file = path.join(store.folder, "latin.csv");
    await writeFile(
      file,
      Buffer.from("email,score,created_at,comment\na@example.com,9,2026-01-02,caf\xe9\n", "latin1"),
    );
    const seen = await store.import({}, { paths: [file] });
    expect(seen.error).toBe(
      `${file}:2: the text is neither UTF-8 nor UTF-16 with a byte order mark (byte 0xe9, as in WINDOWS-1252)`,
    );
  });

  test("when a customer list from a spreadsheet comes in, then good rows are kept and each bad one is named", async () => {
    const text = await readFile(path.join(import.meta.dirname, "../../fixtures/customers-messy.csv"), "utf8");
    const seen = await store.import({ "messy.csv": text });
    const counts = (JSON.parse(seen.out) as { streams: readonly Record<string, number>[] }).streams[0];
    const { read = 0, kept = 0, merged = 0, refused = 0, conflicts = 0 } = counts ?? {};
    expect(seen).toMatchObject({ exit: 3, error: null });
    expect(kept + merged + refused + conflicts).toBe(read);
    expect(await store.service.store.check()).toEqual([]);
    expect((await store.dump()).people).toHaveLength(kept);
  });
});

const lines = (...records: readonly unknown[]): string => records.map((row) => `${JSON.stringify(row)}\n`).join("");

describe("records that are damaged or of another kind", () => {
  const left = { person_id: "1", email: "ada@example.com", unsubscribed_at: NOW - 90 };
  const cut = JSON.stringify(left).slice(0, 30);
  const event = { event_type: "unsubscribe.created", event_id: "e1", event_data: left };
  const message = { type: "RECORD", stream: "unsubscribes", record: left };

  test.for<[name: string, text: string, err: string]>([
    [
      "raw rows of Airbyte",
      lines({ _airbyte_data: left }, { _airbyte_data: cut }, { _airbyte_data: "" }, { _airbyte_data: [1] }),
      "a.ndjson:2: _airbyte_data is not a JSON object\na.ndjson:3: no _airbyte_data\na.ndjson:4: _airbyte_data is not a JSON object\n",
    ],
    [
      "logged events",
      lines(event, { ...event, event_data: cut }, { event_type: "unsubscribe.created", event_id: "e3" }, { foo: 1 }),
      "a.ndjson:2: event_data is not a JSON object\na.ndjson:3: no event_data\na.ndjson:4: no event_type\n",
    ],
    [
      "messages of a sync",
      lines({ type: "STATE", value: {} }, message, { ...message, record: cut }, { type: "BATCH" }, { foo: 1 }),
      "a.ndjson:3: record is not a JSON object\na.ndjson:4: not a RECORD message\na.ndjson:5: not a RECORD message\n",
    ],
  ])("when %s are damaged, then each is refused, named and counted", async ([, text, err]) => {
    const seen = await store.import({ "a.ndjson": text });
    expect([seen.exit, seen.err]).toEqual([3, err]);
    const { streams } = JSON.parse(seen.out) as { streams: readonly { read: number; kept: number; refused: number }[] };
    const sum = (name: "read" | "kept" | "refused"): number => streams.reduce((all, each) => all + each[name], 0);
    expect([sum("read"), sum("kept"), sum("refused")]).toEqual([4, 1, 3]);
  });

  test("rows of a spreadsheet with bad quotes are refused, and emptied rows are no rows", async () => {
    const text = 'e\u200bmail,score, created\u00a0at\nada@x.co,9,2026-01-02,\n"bo"b,9,\n,,\n"open,9,2026-01-02\n';
    const seen = await store.import({ "a.csv": text });
    const [after, open] = ["text follows a closing quote", "a quoted field begins here and is never closed"];
    const fix = 'a quote inside a field is written ""';
    expect([seen.exit, seen.err]).toEqual([3, `a.csv:3: ${after}; ${fix}\na.csv:5: ${open}; ${fix}\n`]);
    expect(JSON.parse(seen.out)).toMatchObject({ streams: [{ stream: "responses", read: 3, kept: 1, refused: 2 }] });
  });

  test("when an unsubscribe has lost its data, then it is counted as an unsubscribe", async () => {
    const seen = await store.import({ "a.ndjson": lines(event, { ...event, event_data: cut }) });
    expect(JSON.parse(seen.out)).toMatchObject({ streams: [{ stream: "unsubscribes", read: 2, kept: 1, refused: 1 }] });
  });

  test("when events or streams are of another kind, then a note counts them", async () => {
    const mystery = { event_type: "mystery", event_id: "e2", event_data: { id: "7" } };
    const seen = await store.import({
      "a.ndjson": lines(event, mystery, mystery, { ...mystery, event_type: "page.opened" }),
      "b.ndjson": lines(message, { ...message, stream: "metrics" }),
    });
    expect([seen.exit, seen.err]).toEqual([
      0,
      "note: a.ndjson: 3 rows of other kinds not kept: mystery, page.opened\nnote: b.ndjson: 1 row of another kind not kept: metrics\n",
    ]);
  });

  test("when a table has the type in capitals, then its rows are no messages of a sync", async () => {
    const seen = await store.import({ "a.csv": "email,score,date,type\nada@example.com,9,2026-01-02,NPS\n" });
    expect([seen.exit, seen.err]).toEqual([0, ""]);
    expect(JSON.parse(seen.out)).toMatchObject({ streams: [{ read: 1, kept: 1 }], responses: 1 });
  });
});

const eventsOf = async (id: number): Promise<unknown[]> => {
  const due = await store.service.store.read((tx) => tx.webhooks.due({ project, id, format: "json" }, 100));
  return due.map(({ body }) => {
    const { event_type: type, event_data: data } = JSON.parse(body) as Record<string, Record<string, unknown>>;
    return [type, data?.["id"] ?? data?.["person_id"], data?.["score"] ?? null];
  });
};

describe("webhooks", () => {
  const left = `${JSON.stringify({ person_id: "1", email: "ada@example.com", unsubscribed_at: NOW - 90 })}\n`;
  const addWebhook = async (): Promise<number> =>
    Number((await store.service.admin({ kind: "webhook.add", project: "default", ...webhook })).id);
  const webhook = { url: "https://example.com/" } as const;

  test("when history comes in, then no webhook hears of it, unless it is asked for", async () => {
    const id = await addWebhook();
    const files = { "a.ndjson": response({}), "b.ndjson": ada, "c.ndjson": left };
    await store.import(files);
    expect(await eventsOf(id)).toEqual([]);
    const more = { ...files, "a.ndjson": response({ score: 3 }) + response({ id: "11", person: "2" }) };
    await store.import(more, { webhooks: true, onConflict: "replace" });
    await store.import(more, { webhooks: true, onConflict: "replace" });
    expect(await eventsOf(id)).toEqual([
      ["survey_response.updated", "10", 3],
      ["survey_response.created", "11", 9],
    ]);
  });

  test("when somebody had left, then one event tells it", async () => {
    const id = await addWebhook();
    await store.import({ "b.ndjson": ada, "c.ndjson": left }, { webhooks: true });
    expect(await eventsOf(id)).toEqual([["unsubscribe.created", "1", null]]);
  });
});

describe("an import that was stopped", () => {
  test("when it ended between any two batches, then the same import completes it", async () => {
    const files = WHOLE_SHAPES["NDJSON of the API"]?.(createPast(60)) ?? {};
    const whole = await openPastStore();
    await whole.import(files);
    for (const step of isLong ? [1, 2, 3, 4] : [2, 3]) {
      let left = step - 1;
      const own = store.service.store;
      const stopping: Store = {
        ...own,
        write: (work, options) => {
          left -= 1;
          return left < 0 ? Promise.reject(new Error("stopped")) : own.write(work, options);
        },
      };
      await expect(store.import(files, {}, stopping)).resolves.toMatchObject({ error: "stopped" });
    }
    expect(await store.import(files)).toMatchObject({ exit: 0, error: null });
    expect(await store.dump()).toEqual(await whole.dump());
    await whole.close();
  });

  test(`when it is killed ${KILLS} times while the data file is served, then the same import completes it`, async () => {
    const files = WHOLE_SHAPES["NDJSON of the API"]?.(createPast(size(60, 2000))) ?? {};
    const whole = await openPastStore();
    await whole.import(files);
    const dataFile = path.join(store.folder, "survey.db");
    const saved = path.join(store.folder, "saved");
    await mkdir(saved);
    for (const [name, text] of Object.entries(files)) await writeFile(path.join(saved, name), text);
    const args = ["service", "import", saved, "--data", dataFile, "--unknown", "properties"];
    const countRows = async (): Promise<number> => {
      const { people, responses } = await store.service.store.read(countContents);
      return people + responses;
    };
    for (let kill = 1; kill <= KILLS; kill += 1) {
      const before = await countRows();
      const running = startProgram({ args, home: store.folder });
      // Each run gets a little further before the kill.
      await expect.poll(countRows, { interval: 1, timeout: 60_000 }).toBeGreaterThan(before);
      running.child.kill("SIGKILL");
      await running.ended;
    }
    expect(await store.import(files)).toMatchObject({ exit: 0, error: null });
    expect(await store.dump()).toEqual(await whole.dump());
    await whole.close();
  });
});
