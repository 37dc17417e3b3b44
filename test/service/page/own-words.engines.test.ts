import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { surveySms } from "../../../src/service/delivery/message/survey-sms.ts";
import { readPresentation } from "../../../src/service/domain/projects/presentation.ts";
import type { ProjectTexts, TextChange, TextScope } from "../../../src/service/domain/projects/texts.ts";
import { openPages, ORIGIN, type PageFixture, visibleText } from "./fixture.ts";

let pages: PageFixture;
beforeEach(async () => {
  pages = await openPages({ publicUrl: ORIGIN });
});
afterEach(() => pages.close());

const project = "default";

function set(change: TextChange, scope: Partial<TextScope> = {}): Promise<readonly ProjectTexts[]> {
  return pages.service.admin({ kind: "texts.set", project, ...scope, ...change });
}

const texts = () => pages.service.admin({ kind: "texts.show", project });

const preview = (locale: "de" | null = null) =>
  pages.service.admin({ kind: "survey.preview", project, email: null, locale });

describe("when a project has texts of its own", () => {
  beforeEach(async () => {
    await set({ product_name: "Rockets", subject: "How was it?", intro: "Two minutes,\nplease.", thank_you: "Thanks" });
    await set({ subject: "Wie war es?" }, { locale: "de" });
    await set({ thank_you_link: "https://example.com/review", thank_you_link_text: "Review us" }, { score: "9-10" });
    await set({ thank_you: "We are sorry.", comment_question: "What went wrong?" }, { score: "0-6" });
  });

  it("then a mail has them, and a language's own before those", async () => {
    const mail = await preview();
    expect(mail.subject).toBe("How was it?");
    expect(mail.text).toMatch(/^Two minutes,\nplease\.\n\nHow likely are you to recommend Rockets to a friend\?\n/);
    expect((await preview("de")).subject).toBe("Wie war es?");
  });

  it("then properties of a survey win, and a response has none but these", async () => {
    const due = await pages.send({ question_product_name: "Skates", thank_you_message: "Bye" });
    expect(visibleText((await pages.get(`/s/${due.token}`)).text)).toContain("recommend Skates to a friend?");
    await pages.post(`/s/${due.token}`, { score: "9" });
    expect(visibleText((await pages.get(`/s/${due.token}`)).text)).toContain("Thank you! Bye Review us Your answer: 9");
    expect(await pages.responses()).toMatchObject([
      { person_properties: { question_product_name: "Skates", thank_you_message: "Bye" } },
    ]);
  });

  it("then promoters get a link, and detractors are asked why", async () => {
    const due = await pages.send();
    const url = `/s/${due.token}`;
    expect(visibleText((await pages.get(url)).text)).not.toContain("What went wrong?");
    expect((await pages.get(`${url}?score=3`)).text).toContain(
      '<label for="comment" dir="auto">What went wrong?</label>',
    );
    await pages.post(url, { score: "10" });
    expect((await pages.get(url)).text).toContain(
      '<a class="go" href="https://example.com/review" rel="noopener noreferrer">Review us</a>',
    );
    await pages.post(url, { score: "0" });
    const changed = await pages.get(url);
    expect(visibleText(changed.text)).toMatch(/^Rockets Thank you! We are sorry\. Your answer: 0 .*What went wrong\?/);
    expect(changed.text).not.toContain("example.com");
  });

  it("then a public link and the preview have them too", async () => {
    const link = await pages.service.admin({ kind: "link.add", project, name: "Shop", property: {} });
    const url = link.url.slice(ORIGIN.length);
    const thanks = await pages.post(url, { score: "9" });
    expect(visibleText(thanks.text)).toMatch(/^Rockets Thank you! Thanks Review us /);
    expect(visibleText((await pages.get("/s/preview?answered=2")).text)).toContain("We are sorry.");
  });

  it("then an empty text takes one back, and what is left is shown in order", async () => {
    await set({ thank_you: "", comment_question: " " }, { score: "0-6" });
    const left = await set({ subject: "", intro: "", thank_you: "" });
    expect(left.map(({ locale, score, product_name, subject }) => [locale, score, product_name, subject])).toEqual([
      [null, null, "Rockets", null],
      [null, "9-10", null, null],
      ["de", null, null, "Wie war es?"],
    ]);
    expect(await texts()).toEqual(left);
  });

  it("then scores that overlap in a language are refused, and nothing is changed", async () => {
    const before = await texts();
    await expect(set({ thank_you: "Hm" }, { score: "6-8" })).rejects.toThrow(
      "score overlaps 0-6, which has texts of its own",
    );
    await expect(set({ subject: "Hm" }, { score: "7" })).rejects.toThrow("subject cannot depend on the score");
    await expect(set({ intro: "x".repeat(301) })).rejects.toThrow("intro is too long (maximum is 300 characters)");
    expect(await texts()).toEqual(before);
    await set({ thank_you: "Schade" }, { score: "6-8", locale: "de" });
  });
});

describe("a question of the project's own", () => {
  const QUESTION = "How likely are you to recommend Acme to a friend or colleague?";
  beforeEach(async () => {
    await pages.service.admin({ kind: "brand.set", project, name: "Acme" });
    await set({ question: "How likely are you to recommend {product} to a friend or colleague?" });
    await set({ question: "Empfehlen Sie uns weiter?" }, { locale: "de" });
  });

  it("is asked in mail, in texts, on pages and in previews, in each language", async () => {
    const mail = await preview();
    expect([mail.text, visibleText(mail.html)]).toEqual([
      expect.stringContaining(`\n${QUESTION}\n`),
      expect.stringContaining(QUESTION),
    ]);
    expect((await preview("de")).text).toContain("\nEmpfehlen Sie uns weiter?\n");
    expect(visibleText((await pages.get("/s/preview")).text)).toContain(QUESTION);
    const link = await pages.service.admin({ kind: "link.add", project, name: "Shop", property: { locale: "de" } });
    expect(visibleText((await pages.get(link.url.slice(ORIGIN.length))).text)).toContain("Empfehlen Sie uns weiter?");
    const { token } = await pages.send({ question_product_name: "Skates" });
    expect(visibleText((await pages.get(`/s/${token}`)).text)).toContain("recommend Skates to a friend or colleague?");
    const presentation = await pages.service.store.read((tx) => readPresentation(tx, pages.project));
    const sms = { appUrl: ORIGIN, mode: "link", sender: "Acme", canReply: false, presentation } as const;
    expect(surveySms({ properties: {}, token: "x", channel: "sms" }, sms)).toBe(`${QUESTION}\n${ORIGIN}/s/x`);
  });

  it("is shown on a live page", async () => {
    await pages.post(`/s/${(await pages.send()).token}`, { score: "9" });
    const { url } = await pages.service.admin({ kind: "share.add", project, name: "Board" });
    expect(visibleText((await pages.get(url.slice(ORIGIN.length))).text)).toContain(
      `All answers in the period to “${QUESTION}”`,
    );
  });

  it("is the built-in one again once it is emptied", async () => {
    expect(await set({ question: "" })).toMatchObject([{ locale: "de", question: "Empfehlen Sie uns weiter?" }]);
    expect((await preview()).text).toContain("\nHow likely are you to recommend Acme to a friend?\n");
    expect(await set({ question: " " }, { locale: "de" })).toEqual([]);
  });

  it("can be missing from texts of an older version", async () => {
    const old = [{ locale: null, score: null, subject: "How was it?" }];
    await pages.service.store.write((tx) => tx.projects.setSetting(pages.project.id, "texts", JSON.stringify(old)), {
      project: pages.project.id,
    });
    expect(await texts()).toMatchObject([{ subject: "How was it?", question: null, intro: null }]);
    expect((await preview()).text).toContain("\nHow likely are you to recommend Acme to a friend?\n");
  });
});

describe("when a project has a brand", () => {
  it("then its name is above the question and in it, and the sender's name is in From", async () => {
    await pages.service.admin({ kind: "brand.set", project, name: "Acme" });
    await pages.service.admin({ kind: "settings", project, sender_name: "Nora of Acme" });
    const mail = await preview();
    expect(mail.from).toBe("Nora of Acme <surveys@survey.test>");
    expect(mail.text).toMatch(/^Acme\n\nHow likely are you to recommend Acme to a friend\?\n/);
    expect(visibleText(mail.html)).toMatch(
      /^(How likely .*\? )?Acme How likely are you to recommend Acme to a friend\?/,
    );
    expect(mail.text).toContain("You're receiving this because you're a customer of Acme.");
    const page = await pages.get(`/s/${(await pages.send()).token}`);
    expect(visibleText(page.text)).toMatch(/^Acme How likely are you to recommend Acme to a friend\?/);
  });

  it("then the name is the sender's too, unless one was set", async () => {
    await pages.service.admin({ kind: "brand.set", project, name: "Acme" });
    expect((await preview()).from).toBe("Acme <surveys@survey.test>");
  });

  it("then the address of the service shows its name and nothing else", async () => {
    expect(visibleText((await pages.get("/")).text)).toBe("Surveys");
    await pages.service.admin({ kind: "brand.set", project, name: "Acme & Co" });
    const page = await pages.get("/");
    expect([page.status, visibleText(page.text), page.headers["x-robots-tag"]]).toEqual([
      200,
      "Acme & Co",
      "noindex, nofollow",
    ]);
    expect((await pages.call("POST", "/")).status).toBe(405);
    await pages.service.admin({ kind: "project.add", name: "other" });
    expect((await pages.get("/")).text).not.toContain("Acme");
  });
});
