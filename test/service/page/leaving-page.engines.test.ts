import { afterEach, beforeEach, describe, expect, it, test } from "vitest";
import { recordReport } from "../../../src/service/domain/delivery/bounces.ts";
import { finishDelivery } from "../../../src/service/domain/delivery/deliveries.ts";
import { sendPerson } from "../../../src/service/domain/people/people.ts";
import type { DueSurvey } from "../../../src/service/domain/ports.ts";
import { claimDue } from "../domain/claim-due.ts";
import { DAY, eventsQuery, sendInput } from "../domain/fixture.ts";
import { listUnsubscribes } from "../domain/lists.ts";
import { type Ask, KEY, openPages, type PageFixture, visibleText } from "./fixture.ts";

let pages: PageFixture;
let url = "";
let answeringUrl = "";
beforeEach(async () => {
  pages = await openPages();
  const due = await pages.send({ question_product_name: "Acme" });
  [url, answeringUrl] = [`/u/${due.unsubscribeToken}`, `/s/${due.token}`];
  const { store } = pages.service;
  complain = () =>
    store.write(
      (tx) => {
        const words = { action: null, verdict: "none", code: null, enhancedCode: null, text: null } as const;
        const recipients = [{ addresses: ["ada@example.com"], ...words }];
        const about = { token: null, messageId: null, recipients, needsProof: false };
        return recordReport(tx, { source: "hook", id: tx.token(), kind: "complaint", ...about });
      },
      { project: "all" },
    );
});
afterEach(() => pages.close());

let complain: () => Promise<unknown>;
const withKey = { headers: { authorization: `Basic ${Buffer.from(`${KEY}:`).toString("base64")}` } };

const LEFT =
  "Acme You are unsubscribed and will get no more survey emails from Acme. a•••@example.com Keep sending me surveys";
const left = async (): Promise<number> => {
  const { service, project } = pages;
  return (await service.store.read((tx) => listUnsubscribes(tx, project, eventsQuery()))).length;
};

describe("when the link is opened", () => {
  it("then one button asks, and nothing changes", async () => {
    const page = await pages.get(url);
    expect([page.status, visibleText(page.text), page.text.match(/<button/g)?.length]).toEqual([
      200,
      "Acme Unsubscribe from surveys a•••@example.com " +
        "Do you want to stop receiving survey emails from Acme? Unsubscribe",
      1,
    ]);
    expect((await pages.call("HEAD", url)).status).toBe(200);
    expect((await pages.call("OPTIONS", url)).status).toBe(204);
    expect((await pages.call("PUT", url)).status).toBe(405);
    expect(await left()).toBe(0);
  });

  it("without a name for the sender, then the text has the host's", async () => {
    const due = await pages.send({}, "grace@example.com");
    expect(visibleText((await pages.get(`/u/${due.unsubscribeToken}`)).text)).toBe(
      "Unsubscribe from surveys g•••@example.com " +
        "Do you want to stop receiving survey emails from survey.test? Unsubscribe",
    );
  });
});

describe("when it is posted to", () => {
  const multipart = '--x\r\nContent-Disposition: form-data; name="List-Unsubscribe"\r\n\r\nOne-Click\r\n--x--\r\n';
  test.each<[string, Ask]>([
    ["one click as a form", { body: { "List-Unsubscribe": "One-Click" } }],
    ["one click as multipart", { body: multipart, headers: { "content-type": "multipart/form-data; boundary=x" } }],
    ["one click without a type", { body: "List-Unsubscribe=One-Click" }],
    ["no body", {}],
    ["an empty body with a type", { body: "", headers: { "content-type": "application/x-www-form-urlencoded" } }],
    ["JSON", { body: '{"a":1}', headers: { "content-type": "application/json" } }],
    ["broken JSON", { body: "{", headers: { "content-type": "application/json" } }],
    ["bytes", { body: "\0\u0001", headers: { "content-type": "application/octet-stream" } }],
    ["a request of another site", { headers: { "sec-fetch-site": "cross-site", origin: "https://mail.example" } }],
    ["no wish for HTML", { headers: { accept: "application/json" } }],
  ])("with %s, then the person has left at once, without a redirect or a cookie", async (_, ask) => {
    const page = await pages.call("POST", url, ask);
    expect([page.status, page.headers["location"], page.headers["set-cookie"]]).toEqual([200, undefined, undefined]);
    expect(visibleText(page.text)).toBe(LEFT);
    expect(await left()).toBe(1);
  });

  it("then the link says so whenever it is opened again, and changes nothing", async () => {
    await pages.call("POST", url);
    const again = await pages.get(url);
    expect([visibleText(again.text), again.text.includes("<title>You are unsubscribed")]).toEqual([LEFT, true]);
    pages.time.now += 31 * DAY;
    expect(visibleText((await pages.get(url)).text)).toBe(LEFT.replace(" Keep sending me surveys", ""));
    expect(await left()).toBe(1);
  });

  it("a hundred times, then each is answered, and once is counted", async () => {
    const answers = await Promise.all(Array.from({ length: 100 }, () => pages.call("POST", url)));
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
    expect(await left()).toBe(1);
  });

  it("by the answering link, then nobody leaves", async () => {
    const { pathname } = new URL(answeringUrl.replace("/s/", "/u/"), "http://x");
    expect((await pages.call("POST", pathname)).status).toBe(404);
    expect(await left()).toBe(0);
    expect((await pages.post(url.replace("/u/", "/s/"), { score: "9" })).status).toBe(404);
  });
});

describe("when it was a mistake", () => {
  it("then the person is back within 30 days", async () => {
    await pages.call("POST", url);
    pages.time.now += 30 * DAY;
    const page = await pages.call("POST", `${url}/undo`);
    expect([page.status, visibleText(page.text)]).toEqual([
      200,
      "Acme You are subscribed again. a•••@example.com Unsubscribe",
    ]);
    expect(visibleText((await pages.get(url)).text)).toContain("Do you want to stop receiving survey emails");
    expect(await left()).toBe(0);
    expect((await pages.call("POST", url)).status).toBe(200);
    expect(await left()).toBe(1);
  });

  it("then another link of the person brings nobody back", async () => {
    pages.time.now += 31 * DAY;
    const other = `/u/${(await pages.send()).unsubscribeToken}`;
    await pages.call("POST", url);
    for (const path of [other, `${other}/undo`]) {
      const page = await pages.call("POST", path);
      expect([page.status, page.text.includes("<form")]).toEqual([200, false]);
    }
    expect(await left()).toBe(1);
    const again = await pages.call("POST", url);
    expect(again.text).toContain(`action="${url}/undo"`);
    await pages.call("POST", `${url}/undo`);
    expect(await left()).toBe(0);
  });

  test.each<[string, () => Promise<unknown>]>([
    ["the API", () => pages.post("/v1/unsubscribes.json", { person_email: "ada@example.com" }, withKey)],
    ["a complaint", () => complain()],
  ])("and %s unsubscribed the person before or after, then the link brings nobody back", async (_, unsubscribe) => {
    const back = { person_email: "ada@example.com", note: "asked for it" };
    await pages.call("POST", url);
    await unsubscribe();
    expect((await pages.call("POST", `${url}/undo`)).text).not.toContain("<form");
    expect(await left()).toBe(1);
    await pages.call("DELETE", "/v1/unsubscribes", { body: back, ...withKey });
    expect(await left()).toBe(0);
    await unsubscribe();
    expect((await pages.call("POST", url)).text).not.toContain("<form");
    expect((await pages.call("POST", `${url}/undo`)).text).not.toContain("<form");
    expect(await left()).toBe(1);
  });

  test.each<[string, string, number]>([
    ["had unsubscribed, then the link brings nobody back", "grace@example.com", 1],
    ["is new, then the link brings the person back", "new@example.com", 0],
    ["differs in case alone, then the link brings the person back", "Ada@example.com", 0],
  ])("and the person has an address by now that %s", async (_, email, expected) => {
    const as = (body: object) => pages.post("/v1/people.json", { ...body, send: "false" }, withKey);
    await as({ email: "grace@example.com" });
    await pages.post("/v1/unsubscribes.json", { person_email: "grace@example.com" }, withKey);
    await pages.call("DELETE", "/v1/people/email%3Agrace%40example.com", withKey);
    await pages.service.store.settle();
    pages.time.now += DAY;
    await pages.call("POST", url);
    expect((await as({ email: "ada@example.com", email_update: email })).status).toBe(200);
    await pages.call("POST", `${url}/undo`);
    expect(await left()).toBe(expected);
  });

  it("then later it stays, and the page offers nothing", async () => {
    await pages.call("POST", url);
    pages.time.now += 30 * DAY + 1;
    const page = await pages.call("POST", `${url}/undo`);
    expect([page.status, page.text.includes("<form")]).toEqual([200, false]);
    expect(await left()).toBe(1);
  });

  it("again and again, then coming back has to wait, and leaving does not", async () => {
    const statuses = [];
    for (let at = 0; at < 21; at += 1) {
      expect((await pages.call("POST", url)).status).toBe(200);
      statuses.push((await pages.call("POST", `${url}/undo`)).status);
    }
    expect(statuses).toEqual([...Array.from({ length: 20 }, () => 200), 429]);
    const refused = await pages.call("POST", `${url}/undo`);
    expect([refused.headers["retry-after"], refused.text.includes("<form")]).toEqual(["30", true]);
    expect(await left()).toBe(1);
    expect((await pages.call("POST", url)).status).toBe(200);
  });

  it("then opening the way back changes nothing", async () => {
    await pages.call("POST", url);
    expect((await pages.get(`${url}/undo`)).status).toBe(200);
    expect(await left()).toBe(1);
  });
});

test("when the person was deleted, then the link still answers, and no later import mails them again", async () => {
  const authorization = `Basic ${Buffer.from(`${KEY}:`).toString("base64")}`;
  await pages.call("DELETE", "/v1/people/email%3Aada%40example.com", { headers: { authorization } });
  await pages.service.store.settle();
  expect((await pages.get(url)).status).toBe(200);
  const gone = await pages.call("POST", url);
  expect([gone.status, visibleText(gone.text)]).toEqual([
    200,
    "You are unsubscribed and will get no more survey emails from survey.test.",
  ]);
  expect((await pages.call("POST", `${url}/undo`)).status).toBe(200);
  const again = await pages.post("/v1/people.json", { email: "ada@example.com" }, { headers: { authorization } });
  expect([again.status, JSON.parse(again.text)]).toMatchObject([201, { survey_scheduled_at: null }]);
  expect((await pages.get(answeringUrl)).status).toBe(404);
});

describe("a survey by text message", () => {
  const ADA = "+4917012345678";
  const sendText = async (): Promise<DueSurvey> => {
    const { store } = pages.service;
    await store.write((tx) => sendPerson(tx, pages.project, sendInput({ phoneNumber: ADA, channel: "sms" })), {
      project: "all",
    });
    const claim = { claimer: "one", channel: "sms", leaseSeconds: 60, limit: 1 } as const;
    const [due] = await store.write((tx) => claimDue(tx, claim), { project: "all" });
    await store.write((tx) => finishDelivery(tx, due!, { kind: "sent" }), { project: "all" });
    return due!;
  };
  const stops = () =>
    pages.service.store.read(async (tx) => (await tx.suppressions.list(pages.project.id, "sms", ADA)).length);

  it("has its way out on its page, before and after the answer, and a mail has not", async () => {
    const due = await sendText();
    const leave = `<a href="/u/${due.unsubscribeToken}">Unsubscribe from surveys</a>`;
    expect((await pages.get(`/s/${due.token}`)).text).toContain(leave);
    await pages.post(`/s/${due.token}`, { score: "9" });
    expect((await pages.get(`/s/${due.token}`)).text).toContain(leave);
    expect((await pages.get(answeringUrl)).text).not.toContain("Unsubscribe");
  });

  it("is left for texts alone, and says so", async () => {
    const due = await sendText();
    const page = `/u/${due.unsubscribeToken}`;
    expect(visibleText((await pages.get(page)).text)).toBe(
      "Unsubscribe from surveys •••678 You're receiving this because you're a customer of survey.test. Unsubscribe",
    );
    expect(await stops()).toBe(0);
    const done = await pages.post(page, {});
    const said = "survey.test: You will get no more messages. •••678";
    expect(visibleText(done.text)).toBe(said);
    expect([await stops(), await left()]).toEqual([1, 0]);
    // Only START resumes texts.
    await pages.post(`${page}/undo`, {});
    expect([visibleText((await pages.get(page)).text), await stops()]).toEqual([said, 1]);
  });
});
