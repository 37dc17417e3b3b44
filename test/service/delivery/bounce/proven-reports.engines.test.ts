/** Bounces that aren't formatted as reports. Only the token in their recipient address proves whose they are. */
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { mailToReport } from "../../../../src/service/delivery/bounce/to-report.ts";
import { recordReport } from "../../../../src/service/domain/delivery/bounces.ts";
import { finishDelivery, markTransmitting } from "../../../../src/service/domain/delivery/deliveries.ts";
import { explainPerson } from "../../../../src/service/domain/delivery/oversight.ts";
import { sendPerson } from "../../../../src/service/domain/people/people.ts";
import { claimAll, openFixture, sendInput, type Fixture } from "../../domain/fixture.ts";
import { formatMail, formatReport } from "./reports.ts";

let fixture: Fixture;
beforeEach(async () => {
  fixture = await openFixture();
  await fixture.write((tx) => sendPerson(tx, fixture.project, sendInput({ email: "ada@x.co" })));
  const [due] = await fixture.write(claimAll);
  await fixture.write(async (tx) => {
    await markTransmitting(tx, due!, { messageId: "1@survey.example", bounceToken: "verp-1", values: {} });
    await finishDelivery(tx, due!, { kind: "sent" });
  });
});
afterEach(() => fixture.store.close());

const to = (token: string): string => `To: bounces+${token}@survey.example`;
const COPY = "Return-Path: <us@survey.example>\nMessage-ID: <1@survey.example>\nTo: ada@x.co\n\nHow are we doing?\n";
const mixed = (body: string): string =>
  formatMail({ type: 'multipart/mixed; boundary="outer"', headers: [to("TOKEN")], body });
const DSN =
  "Final-Recipient: rfc822; ada@x.co\nAction: failed\nStatus: 5.1.1\nDiagnostic-Code: smtp; 550 5.1.1 no user";

const qmail = (said: string, address = "ada@x.co"): string => `From: MAILER-DAEMON@mx.example.org
${to("TOKEN")}
Subject: failure notice

Hi. This is the qmail-send program at mx.example.org.
I'm afraid I wasn't able to deliver your message to the following addresses.
This is a permanent error; I've given up. Sorry it didn't work out.

<${address}>:
${said}

--- Below this line is a copy of the message.

${COPY}`;

const exim = (said: string, address = "ada@x.co"): string => `X-Failed-Recipients: ${address}
Auto-Submitted: auto-replied
From: Mail Delivery System <Mailer-Daemon@mx.example.org>
${to("TOKEN")}
Subject: Mail delivery failed: returning message to sender

This message was created automatically by mail delivery software.

A message that you sent could not be delivered to one or more of its
recipients. This is a permanent error. The following address(es) failed:

  ${address}
    ${said.replaceAll("\n", "\n    ")}

------ This is a copy of the message, including all the headers. ------

${COPY}`;

const receive = async (text: string, token = "verp-1") => {
  const raw = Buffer.from(text.replaceAll("TOKEN", token));
  const report = await mailToReport(raw, { bounceAddress: "bounces+{token}@survey.example" });
  const outcome = await fixture.write((tx) => recordReport(tx, report));
  const { person, surveys } = await fixture.read((tx) => explainPerson(tx, fixture.project, "ada@x.co"));
  const log = surveys[0]?.log.map((one) => [one.code, one.enhancedCode, one.outcome]);
  return { outcome, hasBounced: person?.bouncedAt !== null, hasLeft: person?.unsubscribedAt !== null, log };
};

const RCPT = "SMTP error from remote mail server after RCPT TO:<ada@x.co>:\nhost mx.x.co [192.0.2.1]: ";
const BOUNCED = { outcome: "bounced", hasBounced: true, hasLeft: false };
const LOGGED = { outcome: "logged", hasBounced: false, hasLeft: false };
const SOFT = { outcome: "soft", hasBounced: false, hasLeft: false };

describe("a report that its token proves", () => {
  test.each<[string, string, object, unknown[]]>([
    [
      "qmail's",
      qmail("192.0.2.1 does not like recipient.\nRemote host said: 550 5.1.1 <ada@x.co>: User unknown\nGiving up."),
      BOUNCED,
      [550, "5.1.1", "bounced"],
    ],
    ["qmail's own words", qmail("Sorry, no mailbox here by that name. (#5.1.1)"), BOUNCED, [null, "5.1.1", "bounced"]],
    ["qmail's, of a block", qmail("Remote host said: 550 5.7.1 Blocked"), LOGGED, [550, "5.7.1", "failed"]],
    ["qmail's, of another address", qmail("(#5.1.1)", "bob@x.co"), LOGGED, [null, "5.1.1", "failed"]],
    ["Exim's", exim(`${RCPT}550 No such user`), BOUNCED, [550, null, "bounced"]],
    ["Exim's, of a full mailbox", exim(`${RCPT}552 5.2.2 Mailbox full`), SOFT, [552, "5.2.2", "soft"]],
    [
      "Exim's, of an alias",
      exim(`(ultimately generated from ada@x.co)\n${RCPT}550 5.1.1 no`, "b@y.co"),
      BOUNCED,
      [550, "5.1.1", "bounced"],
    ],
    [
      "Exim's, of the sender",
      exim("SMTP error from remote mail server after MAIL FROM:<us@survey.example>:\n550 5.1.0 does not exist"),
      LOGGED,
      [550, "5.1.0", "failed"],
    ],
    [
      "without a report type",
      formatReport(DSN, { type: "multipart/report" }).replace("From:", `${to("TOKEN")}\nFrom:`),
      BOUNCED,
      [550, "5.1.1", "bounced"],
    ],
    [
      "of another type",
      formatReport(DSN, { type: "multipart/mixed" }).replace("From:", `${to("TOKEN")}\nFrom:`),
      BOUNCED,
      [550, "5.1.1", "bounced"],
    ],
    [
      "without a type, sent as an automatic reply",
      formatReport(DSN, { type: "multipart/mixed" }).replace(
        "From:",
        `${to("TOKEN")}\nAuto-Submitted: auto-replied\nFrom:`,
      ),
      BOUNCED,
      [550, "5.1.1", "bounced"],
    ],
    [
      "wrapped",
      mixed(
        `--outer\nContent-Type: text/plain\n\nfyi\n--outer\nContent-Type: message/rfc822\n\n${formatReport(DSN)}\n--outer--\n`,
      ),
      BOUNCED,
      [550, "5.1.1", "bounced"],
    ],
  ])("%s is read, and is in the log", async (_, text, expected, logged) => {
    expect(await receive(text)).toEqual({ ...expected, log: [logged] });
  });

  test("a wrapped one is proved by the token of what is wrapped", async () => {
    const inner = formatReport(DSN).replace("From:", `${to("TOKEN")}\nFrom:`);
    const text = formatMail({ type: "message/rfc822", headers: ["To: postmaster@survey.example"], body: inner });
    expect(await receive(text)).toEqual({ ...BOUNCED, log: [[550, "5.1.1", "bounced"]] });
  });

  test("a complaint without a report type unsubscribes", async () => {
    const parts = { type: "multipart/report", status: "message/feedback-report" };
    const text = formatReport("Feedback-Type: abuse", parts).replace("From:", `${to("TOKEN")}\nFrom:`);
    expect(await receive(text)).toMatchObject({ outcome: "unsubscribed", hasLeft: true });
  });
});

describe("without its token", () => {
  test.each([
    ["qmail's", qmail("Remote host said: 550 5.1.1 <ada@x.co>: User unknown")],
    ["Exim's", exim(`${RCPT}550 5.1.1 No such user`)],
    ["one without a type", formatReport(DSN, { type: "multipart/mixed" })],
    ["a wrapped one", formatMail({ type: "message/rfc822", body: formatReport(DSN) })],
  ])("%s marks nobody", async (_, text) => {
    expect(await receive(text.replace(to("TOKEN"), "To: survey@survey.example"))).toMatchObject({
      outcome: "ignored",
      hasBounced: false,
      log: [],
    });
    // A matching Message-ID isn't proof.
    expect(await receive(text, "guessed")).toMatchObject({ hasBounced: false });
  });
});
