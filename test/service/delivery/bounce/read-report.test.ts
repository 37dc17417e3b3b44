import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { readReport, type ReturnPath } from "../../../../src/service/delivery/bounce/read-report.ts";
import { formatReport, formatMail } from "./reports.ts";

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);
const read = (text: string, path?: ReturnPath): ReturnType<typeof readReport> => readReport(bytes(text), path);
const FAILED = "Final-Recipient: rfc822; ada@example.com\nAction: failed\nStatus: 5.1.1";
const ADA = {
  action: "failed",
  status: "5.1.1",
  diagnosticCode: null,
  finalRecipient: "ada@example.com",
  originalRecipient: null,
};
const READ = { kind: "delivery-status", token: null, messageId: "<one@survey.example>", recipients: [ADA] };
const OTHER = { kind: "other", token: null };

describe("a report about the delivery", () => {
  it("when a server gives up, then each recipient has its state", async () => {
    const status = [
      "Reporting-MTA: dns; mx.example.com\nArrival-Date: Sun, 15 Jun 2025 15:06:40 +0000",
      `Original-Recipient: rfc822;Ada@Example.com\n${FAILED}\nDiagnostic-Code: smtp; 550 5.1.1 <ada@example.com>:\n User unknown`,
      "Final-Recipient: RFC822; <bob@example.com>\nAction: Delayed (still trying)\nStatus: 4.4.1 (no answer)\nRemote-MTA: dns; x",
    ];
    expect(await read(formatReport(status.join("\n\n")))).toEqual({
      ...READ,
      recipients: [
        {
          ...ADA,
          originalRecipient: "Ada@Example.com",
          diagnosticCode: "smtp; 550 5.1.1 <ada@example.com>: User unknown",
        },
        {
          action: "delayed",
          status: "4.4.1",
          diagnosticCode: "no answer",
          finalRecipient: "bob@example.com",
          originalRecipient: null,
        },
      ],
    });
  });

  it.each<[string, string]>([
    ["line feeds", formatReport(FAILED)],
    ["carriage returns and line feeds", formatReport(FAILED).replaceAll("\n", "\r\n")],
    ["carriage returns", formatReport(FAILED).replaceAll("\n", "\r")],
    ["empty lines before it", `\r\n\n${formatReport(FAILED)}`],
    ["the first line of a mailbox file", `From MAILER-DAEMON Sun Jun 15 15:06:40 2025\n${formatReport(FAILED)}`],
    ["header fields alone", formatReport(FAILED, { returned: "text/rfc822-headers" })],
    [
      "fields for Unicode",
      formatReport(FAILED, { status: "message/global-delivery-status", returned: "message/global" }),
    ],
    ["base64", formatReport(btoa(FAILED), { encoding: "base64" })],
    [
      "its type folded and quoted",
      formatReport(FAILED, { type: 'multipart/report;\n\tREPORT-TYPE="Delivery-Status"' }),
    ],
    ["no empty line between recipients", formatReport(FAILED.replace("Final", "Reporting-MTA: dns; x\nFinal"))],
    ["its last boundary cut off", formatReport(FAILED).replace(/--b--\s*$/, "")],
  ])("when it has %s, then it is read", async (_, raw) => {
    expect(await read(raw)).toEqual(READ);
  });

  it("when two recipients have no empty line between them, then both are read", async () => {
    const report = await read(formatReport(`${FAILED}\n${FAILED.replace("ada", "bob")}`));
    expect(report).toEqual({ ...READ, recipients: [ADA, { ...ADA, finalRecipient: "bob@example.com" }] });
  });

  it("when a line is continued without an indent, then it belongs to the field before", async () => {
    const report = await read(formatReport(`${FAILED}\nDiagnostic-Code: smtp; 550-5.1.1 No\n550 5.1.1 such: user`));
    const diagnosticCode = "smtp; 550-5.1.1 No 550 5.1.1 such: user";
    expect(report).toEqual({ ...READ, recipients: [{ ...ADA, diagnosticCode }] });
  });

  it("when its words are ISO-2022-JP, then they are Japanese", async () => {
    const report = await read(formatReport(`${FAILED}\nDiagnostic-Code: X-Notes; \u001B$B%f!<%6!<\u001B(B`));
    expect(report).toEqual({ ...READ, recipients: [{ ...ADA, diagnosticCode: "X-Notes; ユーザー" }] });
  });

  it("when the message is not returned, then it has no id", async () => {
    expect(await read(formatReport(FAILED, { returned: null }))).toEqual({ ...READ, messageId: null });
  });

  it("when the body of the returned message names an id, then that is not its id", async () => {
    const returned = "Subject: Hello\n\nMessage-ID: <other@survey.example>";
    expect(await read(formatReport(FAILED, { message: returned }))).toEqual({ ...READ, messageId: null });
  });
});

describe("what is not a report", () => {
  it.each<[string, string]>([
    ["a report without its part", formatReport(FAILED, { status: "text/plain" })],
    ["a report without recipients", formatReport("Reporting-MTA: dns; x")],
    [
      "a report of another kind",
      formatReport(FAILED, { type: "multipart/report; report-type=disposition-notification" }),
    ],
    ["a report without its kind", formatReport(FAILED, { type: "multipart/report" })],
    ["a mail that claims to be one", formatReport(FAILED, { type: "multipart/mixed; report-type=delivery-status" })],
    ["a mail with the part of a report", formatReport(FAILED, { type: "multipart/mixed" })],
    ["a forwarded report", formatMail({ type: "message/rfc822", body: formatReport(FAILED) })],
    ["a report in free text", formatMail({ type: "text/plain", body: formatReport(FAILED) })],
    ["feedback that a message is not spam", formatReport("Feedback-Type: not-spam", { ...feedback() })],
    ["feedback on a forged sender", formatReport("Feedback-Type: auth-failure", { ...feedback() })],
    ["feedback without a type", formatReport("Version: 1", { ...feedback() })],
    ["nothing", ""],
    ["a header alone", "Subject: Hello"],
    ["noise", "\0\u0001\u00FF".repeat(1000)],
    ["line ends", "\r".repeat(1000)],
    ["parts 300 deep", nested(300)],
    ["a header of 3 MB", `Subject: ${"x".repeat(3_000_000)}\n\nHello`],
  ])("when it is %s, then it is something else", async (_, raw) => {
    expect(await read(raw)).toEqual(OTHER);
  });

  const answers = JSON.parse(
    readFileSync(new URL("../../../fixtures/bounces/answers.json", import.meta.url), "utf8"),
  ) as readonly Answer[];

  it("when people and their programs answer, then there are 50 of them", () => expect(answers.length).toBe(50));

  it.each(answers)(
    "when the answer is $name ($kind), then nobody bounces",
    async ({ kind, headers, subject, body }) => {
      const raw = formatMail({ type: "text/plain; charset=utf-8", headers: [`Subject: ${subject}`, ...headers], body });
      expect(await read(raw)).toEqual({ kind, token: null });
      const path = { recipient: "bounces+abc@b.example", bounceAddress: "bounces+{token}@b.example" };
      expect(await read(raw, path)).toEqual({ kind, token: "abc" });
      const html = formatMail({ type: "text/html; charset=utf-8", headers, body: `<p>${body}</p>` });
      expect(await read(html)).toEqual({ kind, token: null });
    },
  );
});

interface Answer {
  readonly name: string;
  readonly kind: string;
  readonly headers: readonly string[];
  readonly subject: string;
  readonly body: string;
}

function feedback(): { type: string; status: string } {
  return { type: "multipart/report; report-type=feedback-report", status: "message/feedback-report" };
}

function nested(depth: number): string {
  const opens = Array.from(
    { length: depth },
    (_, level) => `Content-Type: multipart/mixed; boundary=b${level}\n\n--b${level}\n`,
  );
  return `${opens.join("")}\nHello`;
}

describe("a complaint", () => {
  it.each(["abuse", "fraud", "opt-out", "other"])("when a person reports %s, then it is one", async (type) => {
    const fields = `Feedback-Type: ${type.toUpperCase()}\nUser-Agent: X/1\nVersion: 1\nOriginal-Rcpt-To: <ada@example.com>`;
    expect(await read(formatReport(fields, feedback()))).toEqual({
      kind: "complaint",
      token: null,
      messageId: "<one@survey.example>",
      feedbackType: type,
      originalRecipient: "ada@example.com",
    });
  });
});

describe("a large message", () => {
  it("when the words for people have 1 MB, then the report after them is read", async () => {
    const long = formatReport(FAILED).replace("Your message", "Your message\n".repeat(80_000));
    expect(await read(long)).toEqual(READ);
  });

  it("when it has 40 MB, then what comes first is read", async () => {
    const message = `Message-ID: <one@survey.example>\n\n${"Hello\n".repeat(7_000_000)}`;
    expect(await read(formatReport(FAILED, { message }))).toEqual(READ);
  });
});

const addressedTo = (field: string, token: string): string => `${field}: <bounces+${token}@b.example>`;

const mailWith = (headers: readonly string[]): string => formatMail({ type: "text/plain", headers, body: "Hello" });

describe("the address that a bounce comes to", () => {
  const bounceAddress = "bounces+{token}@b.example";
  const fields = [
    addressedTo("To", "fromTo"),
    addressedTo("X-Original-To", "fromOriginal"),
    addressedTo("Delivered-To", "fromDelivered"),
  ];

  it.each<[string, ReturnPath, readonly string[], string | null]>([
    [
      "both variables",
      { originalRecipient: "bounces+first@b.example", recipient: "bounces+2@b.example" },
      fields,
      "first",
    ],
    ["one variable", { recipient: "bounces+second@b.example" }, fields, "second"],
    ["a variable of an alias", { originalRecipient: "root@b.example" }, fields, "fromDelivered"],
    ["Delivered-To", {}, fields, "fromDelivered"],
    ["X-Original-To", {}, fields.slice(0, 2), "fromOriginal"],
    ["To", {}, fields.slice(0, 1), "fromTo"],
    ["the second of two", {}, ["To: ada@b.example", addressedTo("To", "again")], "again"],
    ["several addresses", {}, ['To: "A, B" <a@b.example>, bounces+in-the_list@b.example'], "in-the_list"],
    ["another case", {}, ["To: Bounces+KeepsCase@B.EXAMPLE"], "KeepsCase"],
    ["a longer domain", {}, ["To: bounces+no@b.example.org"], null],
    ["a longer name", {}, ["To: not-bounces+no@b.example"], null],
    ["another dot", {}, ["To: bounces+no@bxexample"], null],
    ["no token", {}, ["To: bounces+@b.example"], null],
    ["no such field", {}, [], null],
  ])("when it is in %s, then the token is read", async (_, path, headers, token) => {
    expect(await read(mailWith(headers), { ...path, bounceAddress })).toEqual({ kind: "other", token });
  });

  it("when no address is set up, then no token is read", async () => {
    expect(await read(mailWith(fields), { recipient: "bounces+first@b.example" })).toEqual(OTHER);
  });

  it("when a report comes to it, then the report has the token", async () => {
    const report = await read(formatReport(FAILED), { recipient: "bounces+abc@b.example", bounceAddress });
    expect(report).toEqual({ ...READ, token: "abc" });
  });
});
