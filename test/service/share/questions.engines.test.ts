import type { AdditionalAnswer } from "../../../src/contract/resources.ts";
import { changeResponse, storeResponse } from "../../../src/service/domain/answers/response-changes.ts";
import { afterAll, beforeAll, expect, it } from "vitest";
import { readFacts, type ReportRequest } from "../../../src/cli/commands/report/read-facts.ts";
import { questionSections } from "../../../src/insight/report/questions.ts";
import type { Project } from "../../../src/service/domain/inputs.ts";
import { type EmbeddedService, openEmbeddedService } from "../../helpers/embedded-service.ts";
import { fakeDeps } from "../../helpers/fake-deps.ts";

const DAY = 86_400;
const NONE = { free_response: null, scale: null, select_one: null, select_many: null };
const CHOICES = ["Price", "Support", "</td><script>"].map((text, at) => ({ id: `c${at + 1}`, text }));

let embedded: EmbeddedService;
let project: Project;
let person = 0;

beforeAll(async () => {
  embedded = await openEmbeddedService();
  await embedded.client.sendPerson({ email: "ada@example.com", name: "Ada Muster", send: false });
  const { store } = embedded.service;
  project = await store.read(async (tx) => (await tx.projects.byName("default"))!);
  person = await store.read(async (tx) => (await tx.people.byEmail(project.id, "ada@example.com"))!.id);
  await answer(60, 20 * DAY);
});
afterAll(() => embedded.close());

async function answer(count: number, ago: number, text: string | null = null): Promise<void> {
  const last = Math.floor(embedded.service.clock.now() / 1000) - ago;
  await embedded.service.store.write(
    async (tx) => {
      for (let at = 0; at < count; at += 1) {
        const createdAt = last - (count - 1 - at) * 60;
        const row = { personId: person, score: at % 11, comment: null, personProperties: {}, requestId: null };
        const token = `token-${ago}-${at}`.padEnd(22, "x");
        const times = { createdAt, updatedAt: createdAt };
        const id = await storeResponse(tx, project.id, { ...row, ...times, token });
        const additionalAnswers = JSON.parse(answersOf(at, text)) as AdditionalAnswer[];
        await changeResponse(tx, project.id, id, { additionalAnswers, updatedAt: createdAt });
      }
    },
    { project: project.id },
  );
}

function answersOf(at: number, given: string | null): string {
  const text = given ?? (at % 11 < 7 ? "slow invoices, write to ada@example.com" : "friendly people");
  return JSON.stringify([
    { id: "1", value: { ...NONE, free_response: text }, question: { id: "q1", type: "free_response", text: "Why?" } },
    { id: "2", value: { ...NONE, scale: 1 + (at % 5) }, question: { id: "q2", type: "scale", text: "How easy?" } },
    {
      id: "3",
      value: { ...NONE, select_many: CHOICES.slice(0, 1 + (at % 3)) },
      question: { id: "q3", type: "select_many", text: "What first?" },
    },
  ]);
}

async function pageOf(name: string, comments = true): Promise<string> {
  const wanted = { name, trend: null, segment: [], comments };
  const { url } = await embedded.service.admin({ kind: "share.add", project: "default", ...wanted });
  const { body } = await embedded.service.handle({ method: "GET", url, headers: {} });
  return typeof body === "string" ? body : "";
}

async function reportSections(): Promise<string> {
  const { deps } = fakeDeps({ client: embedded.client });
  const now = Math.floor(embedded.service.clock.now() / 1000);
  const range = { since: now - 300 * DAY, until: null, asOf: now };
  const rest = {
    by: null,
    zone: "UTC",
    segments: [],
    trend: null,
    sponsor: null,
    title: "",
    personal: false,
    links: false,
    rates: null,
  };
  const request: ReportRequest = { ...range, ...rest };
  const { questions = [] } = await readFacts(deps, request, "");
  return questionSections(questions)
    .map(({ text }) => text)
    .join("");
}

it("when questions were answered, then the page has the report's sections, masked", async () => {
  const [page, sections] = [await pageOf("Board"), await reportSections()];
  expect(page).toContain(sections);
  expect(sections.match(/<h2[^>]*>[^<]*/g)).toHaveLength(3);
  expect([page.includes("invoices (detractors)"), page.includes("<script"), page.includes("ada@")]).toEqual([
    true,
    false,
    false,
  ]);
});

it("when a page shows no comments, then it tells no words of free answers either", async () => {
  const page = await pageOf("Quiet", false);
  expect(page).toContain('<p class="deck">60 answers</p>');
  expect([page.includes("invoices"), page.includes("friendly")]).toEqual([false, false]);
});

it("when there are more answers than it reads, then it says of how many it tells", async () => {
  await answer(460, DAY);
  expect(await pageOf("Many")).toContain('<p class="deck">500 of the newest 500 answers; mean 3.0, between');
});

it("when texts are long, then fewer answers are read, and it says so", async () => {
  await answer(70, 60, "slow ".repeat(3_200));
  const [, told] = /<p class="deck">(\d+) of the newest \1 answers; mean/.exec(await pageOf("Long")) ?? [];
  expect([Number(told) > 50, Number(told) < 70]).toEqual([true, true]);
});
