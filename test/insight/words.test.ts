import { describe, expect, it, test } from "vitest";
import { LOCALES } from "../../src/contract/locales.ts";
import { COMMON_WORD_LANGUAGES } from "../../src/insight/common-words.ts";
import { createWordTally, type CommentGroup, type WordTally } from "../../src/insight/words.ts";
import { growthOf, LINEAR_MAX } from "../helpers/growth.ts";
import { isLong } from "../helpers/long.ts";
import { size } from "../helpers/long.ts";
import { seededRandom } from "../helpers/seeded-random.ts";

const WORDS = (
  "the support is fast and team was very helpful but i find it hard to use app on my phone when we need new feature " +
  "price good great slow login page report export love works well every day would like more easy setup docs time " +
  "service great product nice people question answer quickly dashboard data chart missing search mobile version"
).split(" ");

function termsOf(tally: WordTally): string[] {
  return tally
    .rows(1)
    .map(({ term }) => term)
    .toSorted();
}

/** Text of 4 to 20 words, with early words common and later ones rare. */
function prose(random: () => number): string {
  const count = 4 + Math.floor(random() * 17);
  return Array.from({ length: count }, () => WORDS[Math.floor(random() ** 2 * WORDS.length)]).join(" ");
}

interface Planted {
  readonly detractors: number;
  readonly promoters: number;
  readonly share: Readonly<Record<CommentGroup, number>>;
}

function tallyOf(seed: number, { detractors, promoters, share }: Planted): WordTally {
  const random = seededRandom(seed);
  const tally = createWordTally();
  const fill = (group: CommentGroup, count: number): void => {
    for (let id = 0; id < count; id += 1) {
      const planted = random() < share[group] ? ` the invoice was wrong, the Invoice` : "";
      tally.add(group, { id: `${group}${id}`, text: prose(random) + planted });
    }
  };
  fill("detractors", detractors);
  fill("promoters", promoters);
  return tally;
}

/** Both groups draw from the same words. */
const NOTHING = { detractors: 250, promoters: 350, share: { detractors: 0.05, promoters: 0.05 } };
const INVOICE = { detractors: 300, promoters: 400, share: { detractors: 0.12, promoters: 0.02 } };

test("when detractors say invoice more often, then it comes first", () => {
  const first = Array.from({ length: size(5, 100) }, (_, seed) => tallyOf(seed, INVOICE).rows(5)[0]);
  const found = new Set(first.map((row) => `${row?.term} of ${row?.group}, ${row?.quotes.length} quotes`));
  const certain = first.filter((row) => row !== undefined && row.q < 0.05);
  expect([[...found], certain.length > first.length * 0.75]).toEqual([["invoice of detractors, 3 quotes"], true]);
});

test("when scores have nothing to do with words, then nothing is found in 95 of 100 tries", () => {
  const seeds = size(10, 100);
  const falseFinds = Array.from({ length: seeds }, (_, seed) =>
    tallyOf(1_000 + seed, NOTHING)
      .rows(5)
      .some(({ q }) => q < 0.05),
  ).filter(Boolean);
  expect(falseFinds.length).toBeLessThanOrEqual(seeds * 0.05);
});

describe("terms", () => {
  it("when a comment repeats a term, then it counts once, with the comments that say it", () => {
    const tally = createWordTally();
    for (let id = 1; id <= 4; id += 1) tally.add("detractors", { id: `d${id}`, text: "Slow. Slow, slow" });
    tally.add("promoters", { id: "p1", text: "slow?" });
    const [row, ...others] = tally.rows(1);
    expect([others, { ...row, z: Math.sign(row?.z ?? 0), q: 0 }, tally.comments]).toEqual([
      [],
      {
        term: "slow",
        group: "detractors",
        detractors: 4,
        detractors_share: 1,
        promoters: 1,
        promoters_share: 1,
        z: 0,
        q: 0,
        quotes: ["d1", "d2", "d3"].map((id) => ({ id, text: "Slow. Slow, slow" })),
      },
      { detractors: 4, promoters: 1 },
    ]);
  });

  it.each([
    ["the wrong invoice, twice", ["twice", "invoice", "wrong", "wrong invoice"]],
    ["ask [email-1] twice", ["ask", "twice"]],
    ["It isn’t 12 EUR", ["eur", "isn't"]],
    ["Die Rechnung ist falsch", ["rechnung", "falsch"]],
    ["L'application n'est pas stable et la facture", ["application", "pas", "pas stable", "stable", "facture"]],
    ["最高です", ["最高"]],
  ])("when %j is said, then its words and pairs are", (text, terms) => {
    const tally = createWordTally();
    tally.add("detractors", { id: "1", text });
    // Say each word alone too, because a pair replaces words that only occur in it.
    for (const [id, each] of terms.filter((term) => !term.includes(" ")).entries())
      tally.add("promoters", { id: String(id), text: each });
    expect(
      tally
        .rows(1)
        .map(({ term }) => term)
        .toSorted(),
    ).toEqual(terms.toSorted());
  });

  it("leaves out what is common in the comment's own language alone", () => {
    const tally = createWordTally();
    tally.add("detractors", { id: "1", text: "The van and the die are late, with no reason" });
    tally.add("detractors", { id: "2", text: "De levering van het pakket" });
    const terms = tally.rows(1).map(({ term }) => term);
    expect(terms.toSorted()).toEqual(["die", "late", "levering", "no reason", "pakket", "van"]);
  });

  it("gives a pair in place of words that are hardly said without it", () => {
    const tally = createWordTally();
    for (let id = 0; id < 10; id += 1) tally.add("detractors", { id: `${id}`, text: "no customer service" });
    for (let id = 0; id < 2; id += 1) tally.add("promoters", { id: `p${id}`, text: "customer, price" });
    for (let id = 0; id < 9; id += 1) tally.add("promoters", { id: `q${id}`, text: "service" });
    expect(
      tally
        .rows(2)
        .map(({ term }) => term)
        .toSorted(),
    ).toEqual(["customer service", "no customer", "price", "service"]);
  });

  it.runIf(isLong).each([
    ["words", "slow invoices arrive "],
    ["letters without a space", "請求書が遅い"],
  ])("when a text of %s is long, then its time is in proportion to it", (_, text) => {
    const work = (length: number): void => {
      createWordTally().add("detractors", { id: "1", text: text.repeat(Math.ceil(length / text.length)) });
    };
    expect(growthOf(work)).toBeLessThan(LINEAR_MAX);
  });

  it("when a text is long, then its pairs are those of its sentences", () => {
    const sentences = Array.from({ length: 300 }, (_, at) => `word${at} follows${at}. `);
    const [long, short] = [createWordTally(), createWordTally()];
    long.add("detractors", { id: "1", text: sentences.join("") });
    for (const [at, text] of sentences.entries()) short.add("detractors", { id: String(at), text });
    expect(termsOf(long)).toEqual(termsOf(short));
  });

  it("knows common words of each language of the surveys", () => {
    const languages = new Set(
      LOCALES.map((locale) => locale.split("-")[0]).filter((language) => language !== undefined),
    );
    expect([...languages].filter((language) => !COMMON_WORD_LANGUAGES.includes(language))).toEqual([]);
  });
});
