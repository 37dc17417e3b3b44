import { describe, expect, it } from "vitest";
import {
  maskReply,
  parseReply,
  reportedReply,
  waitIn,
  searchableWords,
} from "../../../../src/service/delivery/mail/parse-reply.ts";

describe("a reply", () => {
  it.each<[string, string, ReturnType<typeof parseReply>]>([
    ["one line", "550 5.1.1 User unknown", { code: 550, enhancedCode: "5.1.1", text: "User unknown" }],
    [
      "several lines",
      "550-5.1.1 The account does\r\n550-5.1.1 not exist.\r\n550 5.1.1 Bye",
      { code: 550, enhancedCode: "5.1.1", text: "The account does not exist. Bye" },
    ],
    [
      "lines with the code at the first alone",
      "452-4.2.2 Over\n452 quota",
      { code: 452, enhancedCode: "4.2.2", text: "Over quota" },
    ],
    ["a hash", "550 #5.1.0 Address rejected.", { code: 550, enhancedCode: "5.1.0", text: "Address rejected." }],
    ["brackets", "550 (5.7.1) No", { code: 550, enhancedCode: "5.7.1", text: "No" }],
    ["long numbers", "550 5.7.515 Access denied", { code: 550, enhancedCode: "5.7.515", text: "Access denied" }],
    ["no enhanced code", "554 Failed", { code: 554, enhancedCode: null, text: "Failed" }],
    ["no words", "250", { code: 250, enhancedCode: null, text: "" }],
    ["no reply code", "5.1.1 User unknown", { code: null, enhancedCode: "5.1.1", text: "User unknown" }],
    [
      "an address that begins with digits",
      "550 5.1.1.example",
      { code: 550, enhancedCode: null, text: "5.1.1.example" },
    ],
    ["a code further on", "550 No (see 5.1.1)", { code: 550, enhancedCode: null, text: "No (see 5.1.1)" }],
    ["nothing", "", { code: null, enhancedCode: null, text: "" }],
    ["an error of ours", "Connection timeout", { code: null, enhancedCode: null, text: "Connection timeout" }],
  ])("when it has %s, then codes and words come apart", (_, reply, parsed) => {
    expect(parseReply(reply)).toEqual(parsed);
  });
});

describe("the reply in a report", () => {
  it.each<[string, string | null, string | null, ReturnType<typeof reportedReply>]>([
    ["a reply", "5.1.1", "smtp; 550 5.1.1 No", { code: 550, enhancedCode: "5.1.1", text: "No" }],
    ["a reply without a code", "5.1.1", "smtp;550 No", { code: 550, enhancedCode: "5.1.1", text: "No" }],
    ["a reply with an empty code", "5.1.1", "smtp; 550 5.0.0 No", { code: 550, enhancedCode: "5.1.1", text: "No" }],
    [
      "a reply and an empty status",
      "5.0.0",
      "smtp; 550 5.2.2 Full",
      { code: 550, enhancedCode: "5.2.2", text: "Full" },
    ],
    ["empty codes alone", "5.0.0", "smtp; 550 No", { code: 550, enhancedCode: "5.0.0", text: "No" }],
    [
      "lines one after another",
      "5.1.1",
      "smtp; 550-5.1.1 The account 550-5.1.1 does not 550 5.1.1 exist",
      { code: 550, enhancedCode: "5.1.1", text: "The account does not exist" },
    ],
    [
      "a quoted reply",
      "5.0.0",
      "x-postfix; host mx.example.com[192.0.2.1] said: 550 5.1.1 No (in reply to RCPT TO command)",
      {
        code: 550,
        enhancedCode: "5.1.1",
        text: "host mx.example.com[192.0.2.1] said: 550 5.1.1 No (in reply to RCPT TO command)",
      },
    ],
    ["a reply and a status for any refusal", "5.7.1", "smtp; 553 No", { code: 553, enhancedCode: null, text: "No" }],
    ["a status for any refusal alone", "5.7.1", "smtp; No", { code: null, enhancedCode: "5.7.1", text: "No" }],
    ["a status alone", "5.1.1", null, { code: null, enhancedCode: "5.1.1", text: "" }],
    ["nothing", null, null, { code: null, enhancedCode: null, text: "" }],
  ])("when it has %s, then the better code counts", (_, status, diagnosticCode, parsed) => {
    expect(reportedReply({ status, diagnosticCode })).toEqual(parsed);
  });
});

describe("a refusal of several recipients", () => {
  it.each<[string, string, string]>([
    [
      "550 5.7.1 <ada@example.com>: Rejected (id 4XyZ1) https://x.example/?p=a1",
      "550 5.7.1 <bob@example.org>: Rejected (id 9QrS2) https://x.example/?p=b2",
      "550 5.7.1 <address>: rejected (id #) <link>",
    ],
    [
      "421 4.7.0 mx1.example.com 192.0.2.1 busy - gsmtp a7-20020a",
      "421 4.7.0  mx2.example.com 198.51.100.7 busy - gsmtp b9-20031f",
      "421 4.7.0 # # busy - gsmtp #-#",
    ],
    ["550 No mailbox ada here", "550 no mailbox bob here", "550 no mailbox <address> here"],
  ])("when only addresses and ids differ, then %s equals %s", (first, second, masked) => {
    expect(maskReply(first, "ada@example.com")).toBe(masked);
    expect(maskReply(second, "bob@example.org")).toBe(masked);
  });

  it("when the words or the codes differ, then so do the masks", () => {
    const masks = ["550 5.7.1 No", "550 5.7.0 No", "554 5.7.1 No", "550 5.7.1 Yes"].map((reply) => maskReply(reply));
    expect(new Set(masks).size).toBe(4);
  });
});

it.each<[string, number | null]>([
  ["Greylisted, try again in 299 seconds", 299],
  ["Please retry after 5 minutes", 300],
  ["Come back in 2 hours", 7200],
  ["Try again in 10 min or 30 sec", 600],
  ["Greylisting in action, please come back in 00:05:30", 330],
  ["Come back in 900 hours", 86_400],
  ["Try again in 0 seconds", null],
  ["Limit of 25 M reached at 12:00:00", null],
  ["Try again later", null],
])("when a server says %j, then it asks to wait %s seconds", (text, seconds) => {
  expect(waitIn(text)).toBe(seconds);
});

describe("the words of a reply", () => {
  it.each([
    ["a host", "mx-antispam-3.example.net: no such user", " no such user "],
    ["a host at the end", "ask policy.example.org.", " ask "],
    ["a host named like a blocklist", "cloudmark.x.org, spamcop.mx.x.org: no such user", " no such user "],
    ["a blocklist's host", "listed, zen.spamhaus.org", " listed zen spamhaus org "],
    ["a link", "see https://www.policy.example/x?y=1 please", " see www policy example please "],
    ["a missing space", "User unknown.Please check", " user unknown please check "],
    ["dots", "spam... User unknown", " spam user unknown "],
    ["an address", "<ada@spam.example>: no such user", " no such user "],
  ])("leave out what says nothing: %s", (_, text, words) => {
    expect(searchableWords(text)).toBe(words);
  });
});
