import { afterEach, beforeEach, describe, expect, it, test } from "vitest";
import type { InputOf } from "../../../src/service/operations/index.ts";
import { DAY } from "../domain/fixture.ts";
import { KEY, openPages, ORIGIN, type PageFixture, visibleText } from "./fixture.ts";

let pages: PageFixture;
beforeEach(async () => {
  pages = await openPages({ publicUrl: ORIGIN });
});
afterEach(() => pages.close());

const project = "default";
const add = (given: Partial<InputOf<"question.add">> = {}) =>
  pages.service.admin({
    kind: "question.add",
    project,
    id: "q",
    type: "free_response",
    text: "What should we improve?",
    ...given,
  });
const addAll = async (): Promise<void> => {
  await add({ id: "q_text" });
  await add({ id: "q_scale", type: "scale", text: "How easy?", scale: { from: 1, to: 5 } });
  await add({ id: "q_one", type: "select_one", text: "Which?", choice: ["Price", "Support"] });
  await add({ id: "q_many", type: "select_many", text: "Which all?", choice: ["Web", "Shop", "Phone"] });
};
const form = (
  ...fields: readonly (readonly [string, string])[]
): { body: string; headers: Record<string, string> } => ({
  body: new URLSearchParams([...fields] as [string, string][]).toString(),
  headers: { "content-type": "application/x-www-form-urlencoded" },
});
const ASKED = ["q_text", "q_scale", "q_one", "q_many"].map((id) => ["asked", id] as const);
const answersOf = async () => (await pages.responses())[0]?.additional_answers;
const follow = async (answer: { headers: Readonly<Record<string, string>> }) =>
  pages.get(answer.headers["location"] ?? "");
const scored = async (score = "3", properties = {}): Promise<string> => {
  const path = `/s/${(await pages.send(properties)).token}`;
  const sent = await pages.post(path, { score });
  expect(sent.headers["location"]).toBe(`${path}/questions`);
  return path;
};
const visitOf = (page: string): string => /name="visit" value="([^"]*)"/.exec(page)?.[1] ?? "";
const checkedValues = (page: string): string[] =>
  [...page.matchAll(/<input[^>]*name="(answers\[[^"]+\])"[^>]*value="([^"]*)"[^>]*\schecked/g)].map(
    ([, name, value]) => `${name}=${value}`,
  );

test("when a question fits the score, then it is asked after the score, stored, and thanked for", async () => {
  await add({ to: "0-6" });
  const path = await scored("3");
  const page = await pages.get(`${path}/questions`);
  expect([page.status, visibleText(page.text)]).toEqual([
    200,
    "A few more questions Optional What should we improve? Send",
  ]);
  expect(page.text).not.toContain("<script");
  expect(await answersOf()).toEqual([]);
  pages.time.now += 60;
  const sent = await pages.post(path, { asked: "q", "answers[q]": "The app\r\nis slow" });
  expect([sent.status, sent.headers["location"]]).toEqual([303, path]);
  expect(visibleText((await follow(sent)).text)).toMatch(/^Thank you!.*What should we improve\? The app is slow/);
  const [response] = await pages.responses();
  expect(response).toMatchObject({
    score: 3,
    updated_at: pages.time.now,
    additional_answers: [
      {
        id: `${response?.id}-q`,
        value: { free_response: "The app\nis slow", scale: null, select_one: null, select_many: null },
        question: { id: "q", type: "free_response", text: "What should we improve?" },
      },
    ],
  });
});

test("the page of thanks links to the questions by name while one is open, and by Change afterwards", async () => {
  await add({ id: "q_text" });
  await add({ id: "q_more", text: "What else?" });
  const path = await scored();
  const link = async () => /<a href="[^"]*\/questions">([^<]*)<\/a>/.exec((await pages.get(path)).text)?.[1];
  const seen = [await link()];
  for (const id of ["q_text", "q_more"]) {
    await pages.post(path, { asked: id, [`answers[${id}]`]: "All of it" });
    seen.push(await link());
  }
  expect(seen).toEqual(["A few more questions", "A few more questions", "Change"]);
});

test("when no question fits the score, then the pages are as without any", async () => {
  await add({ to: "0-6" });
  const path = `/s/${(await pages.send()).token}`;
  const sent = await pages.post(path, { score: "9", comment: "Good" });
  expect(sent.headers["location"]).toBe(path);
  expect(visibleText((await follow(sent)).text)).toMatch(
    /^Thank you! Your answer has been saved\. Your answer: 9 · Change .* Send Good$/,
  );
  expect((await pages.get(`${path}/questions`)).headers["location"]).toBe(path);
});

describe("when every kind of question is answered", () => {
  it("then each value is where the specification has it, in the order asked", async () => {
    await addAll();
    const path = await scored();
    await pages.call(
      "POST",
      path,
      form(
        ...ASKED,
        ["answers[q_many]", "c3"],
        ["answers[q_many]", "c1"],
        ["answers[q_one]", "c2"],
        ["answers[q_scale]", "4"],
        ["answers[q_text]", "All of it"],
      ),
    );
    const none = { free_response: null, scale: null, select_one: null, select_many: null };
    expect((await answersOf())?.map(({ value }) => value)).toEqual([
      { ...none, free_response: "All of it" },
      { ...none, scale: 4 },
      { ...none, select_one: { id: "c2", text: "Support" } },
      {
        ...none,
        select_many: [
          { id: "c1", text: "Web" },
          { id: "c3", text: "Phone" },
        ],
      },
    ]);
    const again = await pages.get(`${path}/questions`);
    expect(checkedValues(again.text)).toEqual([
      "answers[q_scale]=4",
      "answers[q_one]=c2",
      "answers[q_many]=c1",
      "answers[q_many]=c3",
    ]);
    expect(again.text).toContain("All of it</textarea");
  });

  it("then they can be changed, taken back, and sent again without a change", async () => {
    await addAll();
    const path = await scored();
    const first = form(...ASKED, ["answers[q_one]", "c2"], ["answers[q_many]", "c1"], ["answers[q_text]", "A"]);
    await pages.call("POST", path, first);
    const [before] = await pages.responses();
    pages.time.now += 60;
    await pages.call("POST", path, first);
    expect(await pages.responses()).toEqual([before]);
    await pages.call("POST", path, form(...ASKED, ["answers[q_one]", ""], ["answers[q_text]", " B "]));
    expect((await answersOf())?.map(({ question, value }) => [question.id, value.free_response])).toEqual([
      ["q_text", "B"],
    ]);
  });

  it("then a question that the form did not have keeps its answer, retired ones too", async () => {
    await addAll();
    const path = await scored();
    await pages.call("POST", path, form(...ASKED, ["answers[q_one]", "c2"], ["answers[q_text]", "A"]));
    await pages.service.admin({ kind: "question.retire", confirm: true, project, id: "q_text" });
    await pages.call("POST", path, form(["asked", "q_one"], ["answers[q_one]", "c1"], ["answers[q_text]", "late"]));
    expect((await answersOf())?.map(({ value }) => value.free_response ?? value.select_one?.text)).toEqual([
      "A",
      "Price",
    ]);
    const page = await pages.get(`${path}/questions`);
    expect(visibleText(page.text)).not.toContain("What should we improve?");
    expect(visibleText((await pages.get(path)).text)).toContain("What should we improve? A");
  });

  it("then a score that is changed later asks its own questions", async () => {
    await add({ id: "q_low", text: "What went wrong?", to: "0-6" });
    await add({ id: "q_high", text: "What do you like?", to: "9-10" });
    const path = await scored("3");
    expect(visibleText((await pages.get(`${path}/questions`)).text)).toContain("What went wrong?");
    await pages.post(path, { score: "10" });
    const page = visibleText((await pages.get(`${path}/questions`)).text);
    expect([page.includes("What do you like?"), page.includes("What went wrong?")]).toEqual([true, false]);
  });
});

describe("what a form may not hold", () => {
  it.each([
    ["a choice that is none", [["answers[q_one]", "c9"]], "Check this answer."],
    [
      "two of one choice",
      [
        ["answers[q_one]", "c1"],
        ["answers[q_one]", "c2"],
      ],
      "Check this answer.",
    ],
    ["a number beyond the scale", [["answers[q_scale]", "6"]], "Check this answer."],
    ["a word on a scale", [["answers[q_scale]", "four"]], "Check this answer."],
    [
      "a choice of many that is none",
      [
        ["answers[q_many]", "c1"],
        ["answers[q_many]", "x"],
      ],
      "Check this answer.",
    ],
    [
      "too long a text",
      [["answers[q_text]", "x".repeat(16_385)]],
      "This answer is too long. The maximum is 16384 characters.",
    ],
  ] as const)("when it holds %s, then the page says so and nothing is stored", async (_, fields, sentence) => {
    await addAll();
    const path = await scored();
    const sent = await pages.call("POST", path, form(...ASKED, ...fields));
    expect([sent.status, visibleText(sent.text).startsWith(sentence)]).toEqual([422, true]);
    expect(sent.text).toContain('aria-invalid="true"');
    expect(await answersOf()).toEqual([]);
  });

  it("when it is larger than a form may be, then its longest answer is named", async () => {
    for (let at = 0; at < 5; at += 1) await add({ id: `q${at}` });
    const path = await scored();
    const fields = Array.from({ length: 5 }, (_, at) => [`answers[q${at}]`, "x".repeat(15_000 + at)] as const);
    const sent = await pages.call("POST", path, form(...fields));
    expect(sent.status).toBe(422);
    expect(sent.text).toContain('href="#answer-q4"');
    expect(await answersOf()).toEqual([]);
  });

  it("when it names a question that is not asked, then that is ignored", async () => {
    await add({ id: "q_high", to: "9-10" });
    await add({ id: "q_low", to: "0-6" });
    const path = await scored("3");
    await pages.post(path, { "answers[q_high]": "a", "answers[q_none]": "b", "answers[q_low]": "c" });
    expect((await answersOf())?.map(({ question }) => question.id)).toEqual(["q_low"]);
  });

  it("when the time for changes is over, then nothing changes", async () => {
    await add();
    const path = await scored();
    pages.time.now += 31 * DAY;
    expect((await pages.get(`${path}/questions`)).headers["location"]).toBe(path);
    expect((await pages.post(path, { "answers[q]": "late" })).headers["location"]).toBe(path);
    expect(await answersOf()).toEqual([]);
  });

  it("when no score was given yet, then the score is asked for first", async () => {
    await add();
    const path = `/s/${(await pages.send()).token}`;
    const sent = await pages.post(path, { "answers[q]": "early" });
    expect([sent.status, visibleText(sent.text)]).toEqual([
      422,
      expect.stringContaining("Choose a number from 0 to 10."),
    ]);
    expect(await pages.responses()).toEqual([]);
  });
});

test("when answers are changed too often, then the page keeps what was typed and says to come again", async () => {
  await add();
  const { url } = await pages.service.admin({ kind: "link.add", project, name: "Shop", property: {} });
  const link = url.slice(ORIGIN.length);
  const visit = visitOf((await pages.get(link)).text);
  await pages.post(link, { visit, score: "3" });
  const ways = [
    { path: await scored(), more: {} },
    { path: link, more: { visit } },
  ];
  for (const { path, more } of ways) {
    const answer = (text: string) => pages.post(path, { ...more, asked: "q", "answers[q]": text });
    for (let at = 0; at < 20; at += 1) await answer(`${at}`);
    const refused = await answer("Typed for long");
    expect([refused.status, refused.headers["retry-after"]]).toEqual([429, "30"]);
    expect(visibleText(refused.text)).toMatch(/^Too many .* A few more questions Optional What should we improve\?/);
    expect(refused.text).toMatch(/<textarea[^>]*>\s*Typed for long<\/textarea>/);
    pages.time.now += 30;
    expect((await answer("Typed for long")).status).toBeLessThan(400);
  }
  const texts = (await pages.responses()).map(({ additional_answers }) => additional_answers[0]?.value.free_response);
  expect(texts).toEqual(["Typed for long", "Typed for long"]);
});

test("when a survey speaks German, then the question does where it is translated, and the answer keeps its words", async () => {
  await add({
    id: "q_one",
    type: "select_one",
    text: "Which?",
    choice: ["Price", "Support"],
  });
  const german = { locale: "de", text: "Was?", choice: ["Preis", "Hilfe"] } as const;
  await pages.service.admin({ kind: "question.text", project, id: "q_one", ...german });
  await add({ id: "q_text" });
  const path = await scored("3", { locale: "de" });
  const page = await pages.get(`${path}/questions`);
  expect(visibleText(page.text)).toBe(
    "Noch ein paar Fragen Freiwillig Was? Preis Hilfe Keine Antwort What should we improve? Absenden",
  );
  await pages.post(path, { "answers[q_one]": "c2" });
  expect(await answersOf()).toEqual([
    expect.objectContaining({
      value: { free_response: null, scale: null, select_one: { id: "c2", text: "Hilfe" }, select_many: null },
      question: { id: "q_one", type: "select_one", text: "Was?" },
    }),
  ]);
});

test("when texts are hostile, then they stay text", async () => {
  const evil = "</fieldset></legend><script>alert(1)</script>\u202e";
  await add({ id: "q_one", type: "select_one", text: evil, choice: [evil, `${evil}2`] });
  await add({ id: "q_text", text: evil });
  const path = await scored();
  await pages.post(path, { "answers[q_one]": "c1", "answers[q_text]": `</textarea>${evil}`.repeat(180) });
  for (const url of [path, `${path}/questions`]) {
    const page = await pages.get(url);
    expect([page.status, page.text.includes("<script"), page.text.includes("</textarea><")]).toEqual([
      200,
      false,
      false,
    ]);
  }
  expect((await answersOf())?.[1]?.value.free_response?.length).toBeGreaterThan(10_000);
});

test("when a webhook listens, then an answer is an update", async () => {
  await add();
  await pages.service.admin({
    kind: "webhook.add",
    project,
    url: "http://127.0.0.1:9/hook",
    events: ["survey_response.updated"],
    allow_private: true,
    insecure_http: true,
  });
  const path = await scored();
  await pages.post(path, { asked: "q", "answers[q]": "Slow" });
  await pages.post(path, { asked: "q", "answers[q]": "Slow" });
  const rows = await pages.service.store.read((tx) => tx.tables.page("webhook_events", null, 10));
  expect(rows.map(({ json }) => JSON.parse(String(json)) as unknown)).toEqual([
    expect.objectContaining({
      event_type: "survey_response.updated",
      event_data: expect.objectContaining({
        additional_answers: [expect.objectContaining({ question: expect.objectContaining({ id: "q" }) })],
      }),
    }),
  ]);
});

describe("when a public link is answered", () => {
  it("then it asks too, on the page that follows, and only the visitor changes the answers", async () => {
    await addAll();
    const { url } = await pages.service.admin({ kind: "link.add", project, name: "Shop", property: {} });
    const link = url.slice(ORIGIN.length);
    const visit = visitOf((await pages.get(link)).text);
    const asked = await pages.post(link, { visit, score: "3" });
    expect([asked.status, asked.headers["location"], visitOf(asked.text)]).toEqual([200, undefined, visit]);
    expect(visibleText(asked.text)).toMatch(/^A few more questions/);
    const thanks = await pages.call("POST", link, form(["visit", visit], ...ASKED, ["answers[q_one]", "c2"]));
    expect([thanks.status, visibleText(thanks.text)]).toEqual([200, expect.stringMatching(/^Thank you!/)]);
    expect((await answersOf())?.map(({ question }) => question.id)).toEqual(["q_one"]);
    const again = await pages.post(link, { visit, score: "3" });
    expect(checkedValues(again.text)).toEqual(["answers[q_scale]=", "answers[q_one]=c2"]);
    const stranger = await pages.post(link, { visit: "x".repeat(22), "answers[q_one]": "c1" });
    expect(stranger.status).toBe(422);
    expect((await pages.responses()).length).toBe(1);
  });
});

test("when a response is looked at, then its page shows the answers", async () => {
  await addAll();
  const path = await scored();
  await pages.call("POST", path, form(["answers[q_many]", "c1"], ["answers[q_many]", "c2"], ["answers[q_scale]", "4"]));
  const [response] = await pages.responses();
  const authorization = `Basic ${Buffer.from(`${KEY}:`).toString("base64")}`;
  const page = await pages.get(response?.permalink ?? "", { headers: { authorization } });
  expect(visibleText(page.text)).toContain("How easy? 4 Which all? Web; Shop");
});

test("when a preview is answered, then it asks the questions of the score, stores nothing, and thanks", async () => {
  await add({
    id: "q_many",
    type: "select_many",
    text: "Which all?",
    choice: ["Web", "Shop"],
    to: "0-6",
  });
  const asking = await pages.post("/s/preview-de", { score: "3" });
  expect([asking.status, asking.headers["location"]]).toEqual([303, "/s/preview-de/questions?answered=3"]);
  const page = await follow(asking);
  expect([page.status, page.text.includes("Which all?"), page.text.includes("Web")]).toEqual([200, true, true]);
  const action = /<form method="post" action="([^"]*)"/.exec(page.text)?.[1] ?? "";
  const wrong = await pages.call("POST", action, form(["asked", "q_many"], ["answers[q_many]", "c9"]));
  expect([wrong.status, wrong.text.includes('href="#answer-q_many"')]).toEqual([422, true]);
  const sent = await pages.call("POST", action, form(["asked", "q_many"], ["answers[q_many]", "c1"]));
  expect([sent.status, sent.headers["location"]]).toEqual([303, "/s/preview-de?answered=3"]);
  expect((await follow(sent)).text).toContain('<a href="/s/preview-de/questions?answered=3">');
  expect((await pages.post("/s/preview-de", { score: "9" })).headers["location"]).toBe("/s/preview-de?answered=9");
  expect((await pages.get("/s/preview-de/questions?answered=9")).text).not.toContain("Which all?");
  expect(await pages.responses()).toEqual([]);
});
