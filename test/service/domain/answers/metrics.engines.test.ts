import { assert, nat, property } from "fast-check";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { finishDelivery } from "../../../../src/service/domain/delivery/deliveries.ts";
import { unsubscribe } from "../../../../src/service/domain/people/suppressions.ts";
import { toCoreMetrics } from "../../../../src/contract/resources.ts";
import { getMetrics } from "../../../../src/service/domain/answers/metrics.ts";
import { answerSurvey } from "../../../../src/service/domain/answers/answers.ts";
import { deletePerson, sendPerson } from "../../../../src/service/domain/people/people.ts";
import { addTrend } from "../../../../src/service/domain/answers/trends.ts";
import { addLink, answerByLink } from "../../../../src/service/domain/links/survey-links.ts";
import { addResponse, deleteResponse } from "../../../../src/service/domain/answers/responses.ts";
import {
  claimAll,
  START,
  links,
  metricsQuery,
  openFixture,
  responseInput,
  sendInput,
  type Fixture,
} from "../fixture.ts";

let fixture: Fixture;
beforeEach(async () => {
  fixture = await openFixture();
});
afterEach(() => fixture.store.close());

const metrics = (given: Parameters<typeof metricsQuery>[0] = {}) =>
  fixture.read((tx) => getMetrics(tx, fixture.project, metricsQuery(given)));

test.each([
  // promoters, passives, detractors → shares, NPS
  [0, 0, 0, [0, 0, 0], 0],
  [32, 13, 6, [63, 25, 12], 51],
  [1, 0, 0, [100, 0, 0], 100],
  [0, 0, 3, [0, 0, 100], -100],
  [1, 0, 7, [13, 0, 88], -75],
  // Halves round away from zero: 1 of 8 is 12.5, and an NPS of ±12.5.
  [1, 7, 0, [13, 88, 0], 13],
  [0, 7, 1, [0, 88, 13], -13],
  // The NPS is computed from exact shares and rounded once.
  [1, 1, 1, [33, 33, 33], 0],
  [101, 49, 50, [51, 25, 25], 26],
])(
  "when there are %i promoters, %i passives and %i detractors, then shares are %j and nps is %i",
  (promoters, passives, detractors, shares, nps) => {
    expect(toCoreMetrics({ promoters, passives, detractors })).toStrictEqual({
      nps,
      promoter_count: promoters,
      promoter_percent: shares[0],
      passive_count: passives,
      passive_percent: shares[1],
      detractor_count: detractors,
      detractor_percent: shares[2],
      response_count: promoters + passives + detractors,
    });
  },
);

test("when any scores are counted, then nps mirrors and every figure is a whole number", () => {
  const count = nat(100_000);
  assert(
    property(count, count, count, (promoters, passives, detractors) => {
      const figures = toCoreMetrics({ promoters, passives, detractors });
      const mirrored = toCoreMetrics({ promoters: detractors, passives, detractors: promoters });
      expect(figures.nps + mirrored.nps).toBe(0);
      expect(Object.values(figures).every(Number.isInteger)).toBe(true);
    }),
  );
});

const counts = async (given: Parameters<typeof metricsQuery>[0] = {}) => {
  const { promoter_count, passive_count, detractor_count } = await metrics(given);
  return [promoter_count, passive_count, detractor_count];
};

test("when no bounds are given, then all time counts; bounds are inclusive", async () => {
  await fixture.write((tx) => sendPerson(tx, fixture.project, sendInput({ email: "a@x.co", send: false })));
  for (const [index, score] of [10, 9, 8, 7, 6, 0].entries()) {
    await fixture.write((tx) =>
      addResponse(tx, fixture.project, responseInput({ personId: "1", score, createdAt: index * 1000 }), links),
    );
  }
  expect(await counts()).toEqual([2, 2, 2]);
  expect(await counts({ since: 1000, until: 4000 })).toEqual([1, 2, 1]);
  expect(await counts({ since: 1001, until: 3999 })).toEqual([0, 2, 0]);
});

test("when other groups are asked for, then their prefixed counts stand in one flat object", async () => {
  await fixture.write((tx) => sendPerson(tx, fixture.project, sendInput({ email: "a@x.co" })));
  await fixture.write((tx) => sendPerson(tx, fixture.project, sendInput({ email: "b@x.co" })));
  await fixture.write((tx) =>
    sendPerson(tx, fixture.project, sendInput({ phoneNumber: "+14155550100", channel: "sms" })),
  );
  const due = await fixture.write(claimAll);
  for (const survey of due) {
    const kind = survey.person.email === "b@x.co" ? ("bounced" as const) : ("sent" as const);
    await fixture.write((tx) => finishDelivery(tx, survey, { kind }));
  }
  await fixture.write((tx) => unsubscribe(tx, fixture.project, "a@x.co"));
  expect(await metrics({ groups: new Set(["email", "sms", "kiosk", "link", "web"]) })).toEqual({
    email_sent_count: 1,
    email_reminder_count: 0,
    email_open_count: 0,
    email_bounce_count: 1,
    email_unsubscribe_count: 1,
    email_response_rate: 0,
    sms_sent_count: 1,
    sms_response_rate: 0,
    kiosk_response_count: 0,
    link_response_count: 0,
    web_response_count: 0,
  });
  expect(await metrics({ groups: new Set(["sms"]), since: START + 1 })).toEqual({
    sms_sent_count: 0,
    sms_response_rate: null,
  });
  expect(Object.keys(await metrics({ groups: new Set() }))).toHaveLength(8);
});

const countByLinks = async (given: Parameters<typeof metrics>[0] = {}) =>
  (await metrics({ ...given, groups: new Set(["link"]) }))["link_response_count"];

test("when people answer by a public link, then those are counted, by range and trend, until they are deleted", async () => {
  const link = await fixture.write((tx) => addLink(tx, fixture.project, "Till", { plan: "pro" }));
  const trend = await fixture.write((tx) => addTrend(tx, fixture.project, "Pro", { plan: "pro" }));
  const answers: { readonly responseId: number }[] = [];
  for (const visit of ["one", "two", "two"]) {
    answers.push(await fixture.write((tx) => answerByLink(tx, link, visit, { score: 9 }, 60)));
    fixture.time.now += 1;
  }
  const { person } = await fixture.write((tx) => sendPerson(tx, fixture.project, sendInput({ email: "a@x.co" })));
  await fixture.write((tx) => addResponse(tx, fixture.project, responseInput({ personId: person.id }), links));
  expect([
    await countByLinks(),
    await countByLinks({ since: START + 1 }),
    await countByLinks({ until: START - 1 }),
  ]).toEqual([2, 1, 0]);
  expect(await countByLinks({ trend: String(trend.id) })).toBe(2);
  const other = await fixture.write((tx) => addTrend(tx, fixture.project, "Free", { plan: "free" }));
  expect(await countByLinks({ trend: String(other.id) })).toBe(0);
  await fixture.write((tx) => deleteResponse(tx, fixture.project, String(answers[0]?.responseId)));
  expect(await countByLinks()).toBe(1);
});

const rate = async (range: { since?: number; until?: number } = {}) =>
  (await metrics({ ...range, groups: new Set(["email"] as const) }))["email_response_rate"];
const sendTo = async (email: string) => {
  await fixture.write((tx) => sendPerson(tx, fixture.project, sendInput({ email })));
  const [survey] = await fixture.write(claimAll);
  return survey!;
};
const answer = (token: string, score: number) =>
  fixture.write((tx) => answerSurvey(tx, token, { score, by: "button" }, 86_400));

describe("the response rate", () => {
  test("is that of the surveys sent in the range, whenever they were answered, each once", async () => {
    for (const email of ["a@x.co", "b@x.co", "c@x.co"]) {
      const survey = await sendTo(email);
      await fixture.write((tx) => finishDelivery(tx, survey, { kind: "sent" }));
      if (email === "a@x.co") {
        fixture.time.now += 40 * 86_400;
        await answer(survey.token, 9);
        await answer(survey.token, 3);
      }
    }
    expect([await rate(), await rate({ until: START }), await rate({ since: START + 1 })]).toEqual([0.3333, 1, 0]);
  });

  test("counts an answer that tells that its survey was sent", async () => {
    const survey = await sendTo("a@x.co");
    await fixture.write((tx) => tx.queue.markTransmitting(survey, null));
    await fixture.write((tx) => finishDelivery(tx, survey, { kind: "unknown" }));
    expect(await rate()).toBe(null);
    await answer(survey.token, 9);
    expect([await rate(), await fixture.store.check()]).toEqual([1, []]);
  });

  test("counts an answer that came before its sending was known, and none of a survey that is gone", async () => {
    const survey = await sendTo("a@x.co");
    await answer(survey.token, 9);
    expect(await rate()).toBe(null);
    await fixture.write((tx) => finishDelivery(tx, survey, { kind: "sent" }));
    expect(await rate()).toBe(1);
    await fixture.write((tx) => deletePerson(tx, fixture.project, { by: "email", email: "a@x.co" }));
    await fixture.store.settle();
    expect([await rate(), await fixture.store.check()]).toEqual([null, []]);
  });
});
