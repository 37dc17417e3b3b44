import { afterEach, beforeEach, expect, test } from "vitest";
import { answerSurvey, unsubscribeByLink, visitSurvey } from "../../../../src/service/domain/answers/answers.ts";
import { finishDelivery } from "../../../../src/service/domain/delivery/deliveries.ts";
import { sendPerson } from "../../../../src/service/domain/people/people.ts";
import { addProject } from "../../../../src/service/domain/projects/projects.ts";
import { START, eventsQuery, links, openFixture, responsesQuery, sendInput, type Fixture } from "../fixture.ts";
import { listResponses, listUnsubscribes } from "../lists.ts";
import { claimDue } from "../claim-due.ts";

let fixture: Fixture;
let token = "";
let unsubscribeToken = "";
beforeEach(async () => {
  fixture = await openFixture();
  // A second project, so that the link has to find the right one.
  await fixture.write((tx) => addProject(tx, "other"));
  await fixture.write((tx) =>
    sendPerson(tx, fixture.project, sendInput({ email: "a@x.co", properties: { plan: "pro" } })),
  );
  const [due] = await fixture.write((tx) =>
    claimDue(tx, { claimer: "one", channel: "email", leaseSeconds: 60, limit: 1 }),
  );
  await fixture.write((tx) => finishDelivery(tx, due!, { kind: "sent" }));
  ({ token, unsubscribeToken } = due!);
});
afterEach(() => fixture.store.close());

test("when a survey is answered, then the response carries its properties; a second answer changes the first", async () => {
  const answer = (score: number, comment?: string) =>
    fixture.write((tx) =>
      answerSurvey(tx, token, { score, by: "button", ...(comment === undefined ? {} : { comment }) }, 86_400),
    );
  expect(await answer(4)).toEqual({ responseId: 3, score: 4, mayChange: true });
  fixture.time.now = START + 5;
  expect(await answer(9, "better now")).toEqual({ responseId: 3, score: 9, mayChange: true });
  fixture.time.now = START + 9;
  expect(await answer(9)).toEqual({ responseId: 3, score: 9, mayChange: true });
  expect(await fixture.read((tx) => listResponses(tx, fixture.project, responsesQuery(), links))).toMatchObject([
    {
      id: "3",
      person: "1",
      score: 9,
      comment: "better now",
      created_at: START,
      updated_at: START + 5,
      person_properties: { plan: "pro" },
    },
  ]);
  await expect(answer(11)).rejects.toMatchObject({ errors: { score: ["must be an integer from 0 to 10"] } });
});

test("when a link is nobody's, then there is no such survey", async () => {
  expect(await fixture.read((tx) => visitSurvey(tx, "x"))).toBeNull();
  await expect(fixture.write((tx) => unsubscribeByLink(tx, ""))).rejects.toMatchObject({ name: "NotFoundError" });
});

test("when the unsubscribe link is followed twice, then once is counted", async () => {
  // A survey's token doesn't unsubscribe, because surveys get forwarded.
  await expect(fixture.write((tx) => unsubscribeByLink(tx, token))).rejects.toMatchObject({ name: "NotFoundError" });
  expect(await fixture.write((tx) => unsubscribeByLink(tx, unsubscribeToken))).toBe(true);
  expect(await fixture.write((tx) => unsubscribeByLink(tx, unsubscribeToken))).toBe(true);
  expect(await fixture.read((tx) => listUnsubscribes(tx, fixture.project, eventsQuery()))).toHaveLength(1);
});
