import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { eventToReport, mailToReport, type ProviderEvent } from "../../../../src/service/delivery/bounce/to-report.ts";
import {
  clearBounce,
  listSoftBounces,
  recordReport,
  type Report,
} from "../../../../src/service/domain/delivery/bounces.ts";
import { finishDelivery, markTransmitting } from "../../../../src/service/domain/delivery/deliveries.ts";
import { explainPerson, pruneAttempts } from "../../../../src/service/domain/delivery/oversight.ts";
import type { DeliveryOutcome } from "../../../../src/service/domain/delivery/sender.ts";
import { deletePerson, sendPerson } from "../../../../src/service/domain/people/people.ts";
import { addProject } from "../../../../src/service/domain/projects/projects.ts";
import { changeSettings } from "../../../../src/service/domain/projects/settings.ts";
import { addResponse } from "../../../../src/service/domain/answers/responses.ts";
import { formatMail, formatReport } from "../../delivery/bounce/reports.ts";
import { claimAll, DAY, links, openFixture, responseInput, sendInput, START, type Fixture } from "../fixture.ts";

let fixture: Fixture;
beforeEach(async () => {
  fixture = await openFixture();
});
afterEach(() => fixture.store.close());

const PATH = { bounceAddress: "bounces+{token}@survey.example" };

/** Sends one survey with the Message-ID `<n>@survey.example` and the envelope token `verp-<n>`. */
async function mail(email: string, n: number, end: DeliveryOutcome = { kind: "sent" }): Promise<void> {
  await fixture.write((tx) => sendPerson(tx, fixture.project, sendInput({ email })));
  const [due] = await fixture.write(claimAll);
  await fixture.write(async (tx) => {
    await markTransmitting(tx, due!, { messageId: `${n}@survey.example`, bounceToken: `verp-${n}`, values: {} });
    await finishDelivery(tx, due!, end);
  });
}

const returned = (n: number): string => `Message-Id: <${n}@survey.example>\n\nHow are we doing?`;
const NO_USER = "smtp; 550 5.1.1 <ada@x.co>: user unknown";

function dsn(fields: Readonly<Record<string, string>>, message: string | null = returned(1)): string {
  const all = { "Final-Recipient": "rfc822; ada@x.co", Action: "failed", Status: "5.1.1", ...fields };
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}`);
  const parts = message === null ? { returned: null } : { message };
  return formatReport(`Reporting-MTA: dns; mx.x.co\n\n${lines.join("\n")}`, parts);
}

function complaint(fields = "Feedback-Type: abuse", message = returned(1)): string {
  const type = "multipart/report; report-type=feedback-report";
  return formatReport(fields, { type, status: "message/feedback-report", message });
}

const receive = async (text: string, path = {}): Promise<string> => {
  const report = await mailToReport(Buffer.from(text), { ...PATH, ...path });
  return fixture.write((tx) => recordReport(tx, report));
};
const record = (report: Report): Promise<string> => fixture.write((tx) => recordReport(tx, report));
const history = (email = "ada@x.co") => fixture.read((tx) => explainPerson(tx, fixture.project, email));
const marks = async (email = "ada@x.co") => {
  const { person, surveys } = await history(email);
  return {
    bouncedAt: person?.bouncedAt ?? null,
    unsubscribedAt: person?.unsubscribedAt ?? null,
    states: surveys.map(({ state }) => state),
  };
};
const log = async (email = "ada@x.co") =>
  (await history(email)).surveys[0]?.log.map(({ stage, enhancedCode, outcome }) => [stage, enhancedCode, outcome]);
const UNTOUCHED = { bouncedAt: null, unsubscribedAt: null, states: ["sent"] };
const BOUNCED = { bouncedAt: START, unsubscribedAt: null, states: ["bounced"] };

test("when a report says that the address is not there, then its owner bounces, with the server's words", async () => {
  await mail("ada@x.co", 1);
  await mail("bob@x.co", 2);
  expect(await receive(dsn({ "Diagnostic-Code": `${NO_USER}, token verp-1` }))).toBe("bounced");
  expect([await marks(), await marks("bob@x.co")]).toEqual([BOUNCED, UNTOUCHED]);
  const { surveys, explanation } = await history();
  expect(explanation).toBe("No mail: this address has bounced.");
  expect(surveys[0]?.log).toEqual([
    {
      n: 1,
      at: START,
      stage: "report",
      code: 550,
      enhancedCode: "5.1.1",
      text: "<ada@x.co>: user unknown, token [token]",
      host: null,
      serverId: null,
      ms: 0,
      message: null,
      outcome: "bounced",
    },
  ]);
});

const TO_TOKEN = { originalRecipient: "bounces+verp-1@survey.example" };
const NO_TOKENS = { bounceAddress: undefined };
const TO_NOBODY = { recipient: "bounces+verp-9@survey.example" };
const FOREIGN = "Message-Id: <other@elsewhere.example>\n\nHello";
const MEMBER = { "Final-Recipient": "rfc822; member@list.example", "Diagnostic-Code": NO_USER };
const AUTO_REPLY = formatMail({
  type: "text/plain",
  headers: ["To: bounces+verp-1@survey.example", "Auto-Submitted: auto-replied", "Subject: Out of office"],
  body: "User unknown. I am away; 550 5.1.1.",
});

describe("what came back, and what it changes", () => {
  test.each<[what: string, text: string, path: object, outcome: string, marks: object]>([
    ["a failure, by the envelope's token alone", dsn({}, null), TO_TOKEN, "bounced", BOUNCED],
    ["a failure, by our Message-ID", dsn({}), {}, "bounced", BOUNCED],
    [
      "a failure, by the address alone, where envelopes have no token",
      dsn({ "Final-Recipient": "rfc822; ADA@X.CO" }, FOREIGN),
      NO_TOKENS,
      "bounced",
      BOUNCED,
    ],
    ["a failure that names the address alone", dsn({}, FOREIGN), {}, "logged", UNTOUCHED],
    ["a failure that names the address alone, with a made-up token", dsn({}, null), TO_NOBODY, "logged", UNTOUCHED],
    [
      "a full mailbox, by the address alone",
      dsn({ Status: "5.2.2", "Diagnostic-Code": "smtp; 552 5.2.2 mailbox full" }, null),
      {},
      "logged",
      UNTOUCHED,
    ],
    [
      "a failure where the address was rewritten on the way",
      dsn({ "Final-Recipient": "rfc822; u17@inner.example", "Original-Recipient": "rfc822; ada@x.co" }),
      {},
      "bounced",
      BOUNCED,
    ],
    ["a delay", dsn({ Action: "delayed", Status: "4.4.1" }), {}, "logged", UNTOUCHED],
    ["a relay without further notice", dsn({ Action: "relayed", Status: "2.0.0" }), {}, "logged", UNTOUCHED],
    ["a delivery", dsn({ Action: "delivered", Status: "2.0.0" }), {}, "logged", UNTOUCHED],
    [
      "a full mailbox",
      dsn({ Status: "5.2.2", "Diagnostic-Code": "smtp; 552 5.2.2 mailbox full" }),
      {},
      "soft",
      UNTOUCHED,
    ],
    [
      "a policy",
      dsn({ Status: "5.7.1", "Diagnostic-Code": "smtp; 550 5.7.1 blocked by spamhaus" }),
      {},
      "logged",
      UNTOUCHED,
    ],
    ["a member of a list that the survey was passed on to", dsn(MEMBER), {}, "logged", UNTOUCHED],
    [
      "several recipients, of whom only another one failed",
      formatReport(
        "Final-Recipient: rfc822; eve@x.co\nAction: failed\nStatus: 5.1.1\n\n" +
          "Final-Recipient: rfc822; ada@x.co\nAction: delivered\nStatus: 2.0.0",
        { message: returned(1) },
      ),
      {},
      "logged",
      UNTOUCHED,
    ],
    ["a complaint", complaint(), {}, "unsubscribed", { ...UNTOUCHED, unsubscribedAt: START }],
    [
      "a complaint that names the address alone, where envelopes have no token",
      complaint("Feedback-Type: abuse\nOriginal-Rcpt-To: <ada@x.co>", FOREIGN),
      NO_TOKENS,
      "unsubscribed",
      { ...UNTOUCHED, unsubscribedAt: START },
    ],
    [
      "a complaint that names the address alone",
      complaint("Feedback-Type: abuse\nOriginal-Rcpt-To: <ada@x.co>", FOREIGN),
      {},
      "logged",
      UNTOUCHED,
    ],
    ["a complaint taken back", complaint("Feedback-Type: not-spam"), {}, "ignored", UNTOUCHED],
    ["a vacation reply", AUTO_REPLY, {}, "ignored", UNTOUCHED],
    ["an answer by mail", formatMail({ type: "text/plain", body: "550 5.1.1 user unknown" }), {}, "ignored", UNTOUCHED],
    ["not a message", "\0\0\0", {}, "ignored", UNTOUCHED],
    [
      "a report that was made up for an address never written to",
      dsn({ "Final-Recipient": "rfc822; eve@x.co" }, FOREIGN),
      {},
      "unmatched",
      UNTOUCHED,
    ],
    ["a made-up token", dsn({ "Final-Recipient": "rfc822; eve@x.co" }, null), TO_NOBODY, "unmatched", UNTOUCHED],
  ])("%s", async (_, text, path, outcome, expected) => {
    await mail("ada@x.co", 1);
    expect([await receive(text, path), await marks()]).toEqual([outcome, expected]);
    expect([await receive(text, path), await marks()]).toEqual(["repeated", expected]);
  });
});

test("when a survey was sent more than 14 days ago, then an address alone does not name it, and its id does", async () => {
  await mail("ada@x.co", 1);
  fixture.time.now = START + 14 * DAY + 1;
  expect(await receive(dsn({}, null), NO_TOKENS)).toBe("unmatched");
  expect(await marks()).toEqual(UNTOUCHED);
  expect(await receive(dsn({}), NO_TOKENS)).toBe("bounced");
});

const everybody = (n: number): string =>
  formatReport(
    `Reporting-MTA: dns; mx${n}.x.co\n\nFinal-Recipient: rfc822; ada@x.co\nAction: failed\nStatus: 5.1.1\n\n` +
      "Final-Recipient: rfc822; bob@x.co\nAction: failed\nStatus: 5.1.1",
    { returned: null },
  );

test("when strangers report many people by address alone, then each survey's log has one line and nobody is marked", async () => {
  await mail("ada@x.co", 1);
  await mail("bob@x.co", 2, { kind: "unknown" });
  expect([await receive(everybody(1)), await receive(everybody(2))]).toEqual(["logged", "repeated"]);
  expect([await marks(), await marks("bob@x.co")]).toEqual([UNTOUCHED, { ...UNTOUCHED, states: ["unknown"] }]);
  const unproven = [["report", "5.1.1", "unproven"]];
  expect([await log(), await log("bob@x.co")]).toEqual([unproven, unproven]);
  expect(await receive(dsn({}))).toBe("bounced");
});

test("when a report comes before the reply to the message itself, then the person bounces all the same", async () => {
  await fixture.write((tx) => sendPerson(tx, fixture.project, sendInput({ email: "ada@x.co" })));
  const [due] = await fixture.write(claimAll);
  const frozen = { messageId: "1@survey.example", bounceToken: "verp-1", values: {} };
  await fixture.write((tx) => markTransmitting(tx, due!, frozen));
  expect([await receive(dsn({})), (await marks()).states]).toEqual(["bounced", ["transmitting"]]);
  await fixture.write((tx) => finishDelivery(tx, due!, { kind: "sent" }));
  expect(await marks()).toEqual({ ...UNTOUCHED, bouncedAt: START });
});

test("when the person has another address by now, then a report about the old one leaves them alone", async () => {
  await mail("ada@x.co", 1);
  await fixture.write((tx) => tx.people.update(fixture.project.id, 1, { email: "ada@new.example" }));
  expect(await receive(dsn({}))).toBe("logged");
  expect(await marks("ada@new.example")).toEqual(UNTOUCHED);
  await fixture.write((tx) => deletePerson(tx, fixture.project, { by: "id", id: "1" }));
  expect(await receive(dsn({ Status: "5.1.2" }))).toBe("unmatched");
});

test("when two projects mailed the address, then a report without an id is about the newest survey", async () => {
  await mail("ada@x.co", 1);
  const second = await fixture.write((tx) => addProject(tx, "second"));
  fixture.time.now = START + 60;
  await fixture.write((tx) => sendPerson(tx, second, sendInput({ email: "ada@x.co" })));
  await fixture.write(async (tx) => finishDelivery(tx, (await claimAll(tx))[0]!, { kind: "sent" }));
  expect(await receive(dsn({}, null), NO_TOKENS)).toBe("bounced");
  expect(await marks()).toEqual(UNTOUCHED);
  const other = await fixture.read((tx) => explainPerson(tx, second, "ada@x.co"));
  expect(other.person?.bouncedAt).toBe(START + 60);
});

describe("when it is unknown whether a survey arrived", () => {
  test.each([
    ["a bounce says that it did not", dsn({}), "bounced", "bounced"],
    ["a full mailbox says that it was carried on", dsn({ Status: "4.2.2" }), "soft", "sent"],
    ["a delay does", dsn({ Action: "delayed" }), "logged", "sent"],
    ["a vacation reply says that it did", AUTO_REPLY, "ignored", "sent"],
    ["a complaint does", complaint(), "unsubscribed", "sent"],
  ])("then %s", async (_, text, outcome, state) => {
    await mail("ada@x.co", 1, { kind: "unknown" });
    expect(await receive(text)).toBe(outcome);
    expect((await marks()).states).toEqual([state]);
    const sent = await fixture.read((tx) =>
      tx.requests.countSent(fixture.project.id, "email", { since: null, until: null }),
    );
    expect(sent).toBe(1);
  });
});

async function softTimes(count: number): Promise<string[]> {
  const outcomes: string[] = [];
  for (let n = 1; n <= count; n += 1) {
    await mail("ada@x.co", n);
    outcomes.push(await receive(dsn({ Status: "4.2.2" }, returned(n))));
    fixture.time.now += 31 * DAY;
  }
  return outcomes;
}
const soft = () => fixture.read((tx) => listSoftBounces(tx, fixture.project, { after: 0, limit: 9 }));

test("when 3 of the last 5 surveys found the mailbox full, then the address is listed and has not bounced", async () => {
  expect([await softTimes(2), await soft()]).toEqual([["soft", "soft"], []]);
  await mail("ada@x.co", 3);
  expect(await receive(dsn({ Status: "4.2.2" }, returned(3)))).toBe("soft");
  const lastAt = fixture.time.now;
  expect(await soft()).toEqual([{ personId: 1, email: "ada@x.co", count: 3, lastAt, text: null }]);
  expect((await marks()).bouncedAt).toBeNull();
});

test("when the person answers a survey, then soft bounces before it count no more", async () => {
  await softTimes(3);
  await fixture.write((tx) => addResponse(tx, fixture.project, responseInput({ personId: "1" }), links));
  expect(await soft()).toEqual([]);
});

test("when a project says how many soft bounces are a bounce, then that many are, and the log says so", async () => {
  await fixture.write((tx) => changeSettings(tx, fixture.project, { softBounces: "2" }));
  expect(await softTimes(2)).toEqual(["soft", "bounced"]);
  const { surveys } = await history();
  expect(surveys[0]?.log.map(({ outcome, text }) => [outcome, text])).toEqual([
    ["soft", null],
    ["bounced", "2 of the last 5 surveys were refused for a passing reason"],
  ]);
});

test("when a bounce after soft ones is cleared, then these count no more", async () => {
  await fixture.write((tx) => changeSettings(tx, fixture.project, { softBounces: "2" }));
  expect(await softTimes(2)).toEqual(["soft", "bounced"]);
  await clear();
  await mail("ada@x.co", 3);
  expect(await receive(dsn({ Status: "4.2.2" }, returned(3)))).toBe("soft");
});

test("when reports blame nobody, then the log says what they were", async () => {
  await mail("ada@x.co", 1);
  for (const action of ["delayed", "relayed", "failed"])
    await receive(dsn({ Action: action, Status: action === "failed" ? "5.7.1" : "4.4.1" }));
  await receive(complaint());
  expect(await log()).toEqual([
    ["report", "4.4.1", "delayed"],
    ["report", "4.4.1", "relayed"],
    ["report", "5.7.1", "failed"],
    ["report", null, "complaint"],
  ]);
});

const event = (given: Partial<ProviderEvent>): Report =>
  eventToReport("hook", {
    id: null,
    type: "hard",
    email: "ada@x.co",
    messageId: null,
    status: null,
    reason: null,
    ...given,
  });

test.each<[string, Partial<ProviderEvent>, string]>([
  ["a hard bounce", {}, "bounced"],
  ["a hard bounce by message", { email: null, messageId: "<1@survey.example>" }, "bounced"],
  ["a hard bounce that the server explains", { reason: "smtp;550 5.1.1 no such user" }, "bounced"],
  ["a hard bounce that is a block", { reason: "550 5.7.1 blocked using Spamhaus" }, "logged"],
  ["a hard bounce that is a full mailbox", { status: "5.2.2", reason: "mailbox full" }, "soft"],
  ["a soft bounce", { type: "soft", reason: "something" }, "soft"],
  ["a soft bounce that is a block", { type: "soft", reason: "554 blocked using Spamhaus" }, "logged"],
  ["a complaint", { type: "complaint" }, "unsubscribed"],
  ["a complaint about nothing of ours", { type: "complaint", email: "eve@x.co" }, "unmatched"],
])("when a provider reports %s, then it counts once: %#", async (_, given, outcome) => {
  await mail("ada@x.co", 1);
  const again = outcome === "unmatched" ? outcome : "repeated";
  expect([await record(event(given)), await record(event(given))]).toEqual([outcome, again]);
});

const clear = () => fixture.write((tx) => clearBounce(tx, fixture.project, "Ada@x.co"));

test("when a bounce is cleared, then mail goes out again and it says what it was; a second time there is none", async () => {
  await mail("ada@x.co", 1);
  await receive(dsn({ "Diagnostic-Code": NO_USER }));
  expect(await clear()).toEqual({
    bouncedAt: START,
    evidence: { at: START, stage: "report", code: 550, enhancedCode: "5.1.1", text: "<ada@x.co>: user unknown" },
  });
  expect(await history()).toMatchObject({ person: { bouncedAt: null }, suppressions: [] });
  await expect(clear()).rejects.toThrow("Ada@x.co has not bounced in project default");
});

test("when a person who bounced is gone, then their address can be cleared still", async () => {
  await mail("ada@x.co", 1);
  await receive(dsn({}));
  await fixture.write((tx) => deletePerson(tx, fixture.project, { by: "id", id: "1" }));
  const cleared = await fixture.write((tx) => clearBounce(tx, fixture.project, "ada@x.co"));
  expect(cleared).toEqual({ bouncedAt: START, evidence: null });
  expect((await history()).suppressions).toEqual([]);
});

test("when a person complains, then the operator is told why no mail goes to them", async () => {
  await mail("ada@x.co", 1);
  await receive(complaint());
  expect(await history()).toMatchObject({
    explanation: "No mail: this person reported a survey as spam.",
    suppressions: [
      { reason: "complaint", at: START },
      { reason: "unsubscribe", at: START },
    ],
  });
});

test("when reports are 90 days old, then they are forgotten with the attempts", async () => {
  await mail("ada@x.co", 1);
  await receive(dsn({ Action: "delayed" }));
  fixture.time.now = START + 90 * DAY + 1;
  expect(await fixture.write((tx) => pruneAttempts(tx, 10))).toBe(false);
  expect((await history()).surveys[0]?.log).toEqual([]);
  expect(await receive(dsn({ Action: "delayed" }))).toBe("logged");
});
