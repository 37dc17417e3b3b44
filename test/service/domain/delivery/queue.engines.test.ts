import { afterEach, beforeEach, expect, it } from "vitest";
import {
  claimDue,
  finishDelivery,
  findDue,
  markTransmitting,
  mayStillSend,
  releaseDeadClaims,
} from "../../../../src/service/domain/delivery/deliveries.ts";
import { nextDueAt } from "../next-due-at.ts";
import { pauseSending } from "../../../../src/service/domain/delivery/oversight.ts";
import { sendPerson } from "../../../../src/service/domain/people/people.ts";
import type { DueMessage, ReplyKind, TextedSurvey } from "../../../../src/service/domain/ports.ts";
import { type Fixture, openFixture, sendInput } from "../fixture.ts";
import { deliveriesOf } from "../lists.ts";

const ADA = "+4917012345678";
const RULES = { maxAgeSeconds: null };

let fixture: Fixture;
beforeEach(async () => {
  fixture = await openFixture();
  await fixture.write((tx) => sendPerson(tx, fixture.project, sendInput({ phoneNumber: ADA, channel: "sms" })));
  const [survey] = await claim("sms");
  await fixture.write((tx) => finishDelivery(tx, survey!, { kind: "sent" }));
});
afterEach(() => fixture.store.close());

const claim = async (channel: "sms" | "reply", claimer = "one"): Promise<readonly DueMessage[]> => {
  const wish = { project: fixture.project.id, channel, claimer, leaseSeconds: 60, limit: 10 };
  return (await fixture.write((tx) => claimDue(tx, wish))).messages;
};

const reply = (kind: ReplyKind): Promise<TextedSurvey> =>
  fixture.write(async (tx) => {
    const [survey] = await tx.texts.surveysTo(ADA, 0);
    await tx.texts.addReply(survey!, { kind, score: null });
    return survey!;
  });

it("when all is paused, and its project too, then a reply is claimed and sent all the same", async () => {
  await fixture.write((tx) => pauseSending(tx, null));
  await fixture.write((tx) => pauseSending(tx, fixture.project));
  await reply("help");
  expect(await fixture.read((tx) => findDue(tx, ["sms", "reply"]))).toEqual({
    dueAt: fixture.time.now,
    due: new Map([["reply", [fixture.project.id]]]),
  });
  const [due] = await claim("reply");
  expect(due).toMatchObject({ channel: "reply", kind: "help", phoneNumber: ADA, attempts: 0 });
  expect(await fixture.read((tx) => mayStillSend(tx, due!, RULES))).toBeNull();
});

it("when its process dies, then a reply goes out unless it was marked, and one that was marked never again", async () => {
  await reply("help");
  await claim("reply");
  await fixture.write((tx) => releaseDeadClaims(tx, ["two"], "resend"));
  const [due, ...others] = await claim("reply", "two");
  expect([due?.channel, others]).toEqual(["reply", []]);
  expect(await fixture.write((tx) => markTransmitting(tx, due!))).toBe(true);
  await fixture.write((tx) => releaseDeadClaims(tx, ["three"], "resend"));
  expect(await claim("reply", "three")).toEqual([]);
  expect(await fixture.read((tx) => nextDueAt(tx, ["reply"]))).toBeNull();
});

it("when the person wants no more, then a reply that is not on its way is taken back", async () => {
  const survey = await reply("thanks");
  const [claimed] = await claim("reply");
  await reply("help");
  await fixture.write((tx) => tx.texts.dropReplies(survey));
  expect(await fixture.read((tx) => mayStillSend(tx, claimed!, RULES))).toEqual({ kind: "released", delaySeconds: 0 });
  await fixture.write((tx) => finishDelivery(tx, claimed!, { kind: "released", delaySeconds: 0 }));
  expect(await claim("reply")).toEqual([]);
});

it("when replies and digests wait, then operators see surveys alone, and every count is right", async () => {
  await reply("help");
  const [due] = await claim("reply");
  await fixture.write((tx) => finishDelivery(tx, due!, { kind: "sent", segments: 1 }));
  await reply("thanks");
  const seen = await fixture.read(async (tx) => [
    (await deliveriesOf(tx, fixture.project.id)).map(({ state }) => state),
    (await tx.deliveries.counts()).map(({ state, count }) => `${state} ${count}`),
  ]);
  expect(seen).toEqual([["sent"], ["sent 1"]]);
  expect(await fixture.store.check()).toEqual([]);
});
