import { expect, it } from "vitest";
import type { QuestionResult } from "../../../src/insight/answers/answer-tally.ts";
import { renderReport } from "../../../src/insight/report/page.ts";
import { type LiveFacts, renderLivePage } from "../../../src/insight/report/live-page.ts";

const LONG = "a value with a long name & more ".repeat(4);
const COUNTS = { detractors: 100_000, passives: 200_000, promoters: 300_000 };

function listOf<T>(length: number, make: (at: number) => T): T[] {
  return Array.from({ length }, (_, at) => make(at));
}

function question(at: number): QuestionResult {
  const values = listOf(20, (choice) => ({
    value: `${LONG}${choice}`,
    n: 25,
    share: 0.05,
    share_low: 0.03,
    share_high: 0.07,
    nps: 33,
    nps_low: 1,
    nps_high: 50,
  }));
  return {
    question: `q${at}`,
    type: "select_one",
    text: LONG.repeat(2),
    answered: 500,
    values,
    mean: null,
    words: null,
  };
}

const FACTS: LiveFacts = {
  title: "T".repeat(100),
  range: "2025-01-01 – 2026-01-01",
  sponsor: "Acme",
  question: null,
  brand: { logo: "../logo/x", accent: { link: { light: "#7a1fa2", dark: "#b06fcc" } } },
  computedAt: "2026-01-01 00:00:00 UTC",
  counts: COUNTS,
  commented: 500_000,
  rates: { areOpen: true, channels: [{ channel: "email", sent: 1_234_567, rate: 0.2 }] },
  change: { before: COUNTS, after: COUNTS, words: "against the 12 months before" },
  periods: listOf(17, (at) => ({ label: `2025-W${at + 10}`, counts: COUNTS, isRunning: false, isCut: false })),
  scores: listOf(11, () => 54_545),
  segments: {
    rows: listOf(250, (at) => ({
      property: `property ${at % 5}`,
      value: `${LONG}${at}`,
      n: 1000,
      share: 0.02,
      nps: 30,
      nps_low: 10.5,
      nps_high: 55.5,
    })),
    hidden: 50,
    minN: 10,
    compared: false,
    missing: [],
  },
  questions: listOf(10, question),
  questionsAmong: 500,
  comments: listOf(200, (at) => ({
    id: String(at),
    score: at % 11,
    text: `${at} ${`<&>"'`.repeat(400)}`,
    at: "2026-01-01",
    person: null,
    url: null,
  })),
  redacted: true,
};

function commentsOf(page: string): number {
  return page.split("<blockquote").length - 1;
}

it("when all that it shows is at its limit, then it has less than 300 KB, and comments the room that is left", () => {
  const full = renderLivePage(FACTS, "12m");
  const roomy = renderLivePage({ ...FACTS, segments: null }, "12m");
  expect([Buffer.byteLength(full) < 300_000, Buffer.byteLength(roomy) < 300_000]).toEqual([true, true]);
  expect(commentsOf(roomy)).toBeGreaterThan(commentsOf(full));
});

it("has comments without ids, folded if they have the same words", () => {
  const comment = { score: 9, text: "Hello", at: "2026-01-01", person: null, url: null };
  const comments = listOf(10, (at) => ({ ...comment, id: `answer-${at}` }));
  const page = renderLivePage({ ...FACTS, comments }, "12m");
  expect(page.match(/<bdi>.*<\/bdi>/g)).toEqual(["<bdi>1 Jan 2026 · <b>× 10</b></bdi>"]);
  expect(page).not.toContain("answer-");
});

function brandOf(text: string): unknown[] {
  return [text.match(/--score:#[0-9a-f]{6}/g)?.slice(2), text.match(/<img[^>]*>/g), text.match(/<p class="kicker".*/g)];
}

it("has the brand's color in its style, and its logo in place of its name", () => {
  const page = renderLivePage(FACTS, "12m");
  const plain = renderLivePage({ ...FACTS, brand: { logo: null, accent: null } }, "12m");
  expect([brandOf(page), brandOf(plain)]).toEqual([
    [
      ["--score:#7a1fa2", "--score:#b06fcc"],
      ['<img src="../logo/x" alt="Acme" />'],
      ['<p class="kicker" dir="auto">Net Promoter Score</p>'],
    ],
    [[], null, ['<p class="kicker" dir="auto">Acme · Net Promoter Score</p>']],
  ]);
});

it("when a report shows four such properties with their changes, then so it is there", () => {
  const { segments, comments, ...facts } = FACTS;
  const report = {
    ...facts,
    people: 600_000,
    segments: segments && {
      ...segments,
      rows: segments.rows.slice(0, 200).map((row) => ({ ...row, change: -12.5, p: 0.04, q: 0.05 })),
      compared: true,
    },
    comments: comments ?? [],
    rowsHash: "a".repeat(64),
    command: `surveyctl report ${LONG}`,
    version: "1.0.0",
    asOf: "2026-01-01T00:00:00Z",
    zone: "UTC",
  };
  const full = renderReport(report);
  const roomy = renderReport({ ...report, segments: null });
  expect([Buffer.byteLength(full) < 300_000, Buffer.byteLength(roomy) < 300_000]).toEqual([true, true]);
  expect(commentsOf(roomy)).toBeGreaterThan(commentsOf(full));
});
