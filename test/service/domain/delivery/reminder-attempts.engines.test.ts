/** A survey's log includes attempts and reports for its reminder, and marks them as such. */
import { afterEach, beforeEach, expect, test } from "vitest";
import { recordReport } from "../../../../src/service/domain/delivery/bounces.ts";
import { claimDue, finishDelivery } from "../../../../src/service/domain/delivery/deliveries.ts";
import { explainPerson } from "../../../../src/service/domain/delivery/oversight.ts";
import { changeReminder } from "../../../../src/service/domain/delivery/reminders.ts";
import type { AttemptFacts } from "../../../../src/service/domain/delivery/sender.ts";
import { sendPerson } from "../../../../src/service/domain/people/people.ts";
import { claimAll, DAY, type Fixture, openFixture, sendInput } from "../fixture.ts";

let fixture: Fixture;
beforeEach(async () => {
  fixture = await openFixture();
  await fixture.write((tx) => changeReminder(tx, fixture.project, { after: 5 * DAY }));
});
afterEach(() => fixture.store.close());

const attempt: AttemptFacts = {
  stage: "rcpt",
  code: 450,
  enhancedCode: null,
  text: "later",
  host: null,
  serverId: null,
  ms: 1,
};
const SENT = { ...attempt, stage: "final-dot", code: 250, text: null };

test("attempts before and after the reminder was scheduled, and a report", async () => {
  const { project } = fixture;
  await fixture.write((tx) => sendPerson(tx, project, sendInput({ email: "a@x.co" })));
  for (const result of [
    { kind: "retry", delaySeconds: 1, attempt } as const,
    { kind: "sent", attempt: SENT } as const,
  ]) {
    const [survey] = await fixture.write(claimAll);
    await fixture.write((tx) => finishDelivery(tx, survey!, result));
    fixture.time.now += 1;
  }
  fixture.time.now += 5 * DAY;
  const claim = { project: project.id, claimer: "one", channel: "reminder", leaseSeconds: 60, limit: 10 } as const;
  const [reminder] = (await fixture.write((tx) => claimDue(tx, claim))).messages;
  await fixture.write((tx) => finishDelivery(tx, reminder!, { kind: "sent", attempt: SENT }));
  fixture.time.now += DAY;
  const failed = { action: "failed", verdict: "bounced", code: 550, enhancedCode: "5.1.1", text: "no user" } as const;
  const about = { source: "mail", id: null, kind: "delivery-status", token: null, messageId: null } as const;
  const report = { ...about, needsProof: false, recipients: [{ addresses: ["a@x.co"], ...failed }] };
  await fixture.write((tx) => recordReport(tx, report));
  const { surveys } = await fixture.read((tx) => explainPerson(tx, project, "a@x.co"));
  expect(surveys.map(({ log }) => log.map(({ n, message, outcome }) => [n, message, outcome]))).toEqual([
    [
      [1, "survey", "retry"],
      [2, "survey", "sent"],
      [3, "reminder", "sent"],
      [4, null, "bounced"],
    ],
  ]);
});
