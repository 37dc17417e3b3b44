import { describe, expect, it } from "vitest";
import {
  classifyReply,
  type ReplyMeaning,
  type ReplyStage,
} from "../../../../src/service/delivery/mail/classify-reply.ts";
import { parseReply } from "../../../../src/service/delivery/mail/parse-reply.ts";

function said(stage: ReplyStage, reply: string): ReplyMeaning {
  return classifyReply({ ...parseReply(reply), stage });
}

const NOTHING_ELSE = {
  backsDomainOff: false,
  strike: false,
  needsOthers: false,
  afterSeconds: null,
  hasAddressCode: false,
};
const bounced = (reason: string): object => ({ ...NOTHING_ELSE, outcome: "bounced", sender: "none", reason });
const held = (reason: string): object => ({ ...NOTHING_ELSE, outcome: "held", sender: "breaker", reason });
const failed = (reason: string): object => ({ ...NOTHING_ELSE, outcome: "failed", sender: "none", reason });
const struck = (reason: string): object => ({ ...failed(reason), strike: true });
const retry = (reason: string, more = {}): object => ({
  ...NOTHING_ELSE,
  outcome: "retry",
  sender: "none",
  reason,
  ...more,
});
const backOff = (reason: string): object => retry(reason, { sender: "back-off" });
const hours = (afterSeconds: number): object => retry("quota", { sender: "hours", afterSeconds });
const heldAlone = (reason: string): object => ({ ...held(reason), sender: "none" });
const byCode = (meaning: object): object => ({ ...meaning, hasAddressCode: true });
const FOUR_HOURS = 14_400;

describe("a sender that is refused", () => {
  it.each<[string, ReplyStage, string, object]>([
    ["has no connection", "connect", "getaddrinfo ENOTFOUND smtp.example.com", backOff("network")],
    ["waits too long", "connect", "Connection timeout after 20 seconds", backOff("network")],
    ["meets a busy server", "connect", "421 4.3.2 Too many connections, try later", backOff("rate")],
    ["is on a blocklist", "connect", "554 5.7.1 Your IP is listed at zen.spamhaus.org", held("blocked")],
    ["is not greeted", "ehlo", "550 Administrative prohibition", held("policy")],
    ["is told to come back", "ehlo", "450 Not now", backOff("unknown")],
    ["gets no encryption", "starttls", "454 4.7.0 TLS not available", backOff("policy")],
    ["meets a forged certificate", "starttls", "self-signed certificate in certificate chain", held("tls")],
    ["has a wrong password", "auth", "535 5.7.8 Authentication credentials invalid", held("auth")],
    ["may not log in", "auth", "550 No such user", held("auth")],
    ["may not log in for now", "auth", "454 4.7.0 Temporary failure", held("policy")],
    ["logs in while the server stops", "auth", "421 4.3.2 Shutting down", backOff("system")],
    ["is not authenticated", "mail-from", "530 5.7.0 Authentication required", held("auth")],
    ["has a bad address", "mail-from", "553 5.1.8 Domain of sender does not exist", held("sender")],
    ["may not use its address", "mail-from", "550 5.7.60 Client may not send as this sender", held("policy")],
    ["may not relay", "mail-from", "550 We do not relay", held("relay")],
    ["is told to wait", "mail-from", "451 4.7.1 Try again in 5 minutes", { ...backOff("policy"), afterSeconds: 300 }],
    ["has sent enough today", "mail-from", "550 5.4.5 Daily user sending limit exceeded", hours(FOUR_HOURS)],
    ["has used its quota", "mail-from", "452 4.2.2 quota exceeded", hours(FOUR_HOURS)],
    ["has a message too large", "mail-from", "552 5.3.4 Message size exceeds fixed limit", struck("size")],
    ["uses an unknown parameter", "mail-from", "555 5.5.4 Unsupported option: SMTPUTF8", struck("syntax")],
  ])("when it %s, then that is the sender's", (_, stage, reply, meaning) => {
    expect(said(stage, reply)).toEqual(meaning);
  });
});

describe("a recipient who is refused", () => {
  it.each<[string, string, object]>([
    ["does not exist", "550 5.1.1 <ada@example.com>: User unknown", byCode(bounced("userunknown"))],
    ["has no words", "550 5.1.1", byCode(bounced("userunknown"))],
    ["has no domain", "550 5.1.2 Host unknown", byCode(bounced("hostunknown"))],
    ["is misspelt", "553 5.1.3 Bad recipient address syntax", byCode(bounced("userunknown"))],
    ["has moved", "551 5.1.6 Mailbox has moved", byCode(bounced("moved"))],
    ["is at a domain without mail", "556 5.1.10 Domain does not accept mail", byCode(bounced("hostunknown"))],
    ["is unknown at Microsoft 365", "550 5.4.1 Recipient address rejected: Access denied", bounced("userunknown")],
    ["is at a host not found", "550 5.4.4 Host or domain name not found", bounced("hostunknown")],
    ["is disabled", "550 5.2.1 The account is disabled", byCode(bounced("disabled"))],
    ["gets too much mail", "550 5.2.1 Receiving mail at a rate that prevents delivery", byCode(retry("rate"))],
    ["gets mail too fast", "550 5.2.1 Mail rate too high", byCode(retry("rate"))],
    ["is not available, no reason given", "550 5.2.1 Not now", byCode(failed("unknown"))],
    ["is full", "552 5.2.2 Mailbox full", retry("full")],
    ["is full for now", "452 4.2.2 Over quota", retry("full")],
    [
      "is refused and nothing else is said",
      "550 <ada@example.com>: Recipient address rejected.",
      bounced("userunknown"),
    ],
    ["has no code but is unknown", "550 No such user here", bounced("userunknown")],
    ["has a code that contradicts itself", "550 4.1.1 Unverified address", failed("unknown")],
    ["has such a code and plain words", "550 4.1.1 User unknown", bounced("userunknown")],
    ["is refused without a reason", "554 Transaction failed", failed("unknown")],
    [
      "is refused with words that any reason may follow",
      "550 5.0.0 Recipient address rejected: On hold",
      failed("unknown"),
    ],
    ["accepts members only", "550 5.7.1 You are not allowed to post to this list", failed("restricted")],
    ["is unknown with a code of security", "550 5.7.1 No such user", failed("userunknown")],
    ["is behind a broken server", "554 5.3.0 Internal error", failed("system")],
  ])("when the mailbox %s, then the sender goes on", (_, reply, meaning) => {
    expect(said("rcpt-to", reply)).toEqual(meaning);
    expect(said("report", reply)).toEqual(meaning);
  });

  it.each<[string, string, object]>([
    ["blocked", "550 5.1.1 Blocked, see https://www.spamhaus.org/query/ip/192.0.2.1", byCode(held("blocked"))],
    ["blocked, by the link alone", "553 5.1.1 https://www.spamhaus.org/query/ip/192.0.2.1", byCode(held("blocked"))],
    ["too many", "550 5.1.1 Too many messages from you", byCode(held("rate"))],
    ["rate alone", "550 5.1.1 Rate exceeded", byCode(held("rate"))],
    ["block alone", "550 5.1.1 Local block in place", byCode(held("blocked"))],
    ["the sender's reputation", "550 5.1.1 Blocked due to the sender's reputation", byCode(held("blocked"))],
    ["full", "552 5.1.1 Recipient over quota", byCode(heldAlone("full"))],
    ["full alone", "552 5.1.1 User full", byCode(heldAlone("full"))],
    ["quota", "550 5.1.1 Daily sending quota exceeded", byCode(held("quota"))],
    ["listed at", "550 5.1.1 192.0.2.1 is listed at bl.example.net", byCode(held("blocked"))],
    ["blocked using", "550 5.1.1 Client host blocked using bl.example.net", byCode(held("blocked"))],
    ["reputation of your IP", "550 5.1.1 User unknown. Your IP has a poor reputation", byCode(held("blocked"))],
    ["reputation of your domain", "550 5.1.1 Your domain example.com has no reputation", byCode(held("blocked"))],
    ["relay", "550 5.1.1 Relaying denied", byCode(held("relay"))],
    ["the recipient's own filter", "550 5.1.1 Refused due to recipient preferences", byCode(failed("restricted"))],
  ])("when 5.1.1 comes with the word %s, then the person is not blamed", (_, reply, meaning) => {
    expect(said("rcpt-to", reply)).toEqual(meaning);
  });

  it.each<[string, string]>([
    ["550 5.1.1 <d1@x.org>: undeliverable: host spam.x.org[192.0.2.7] said: 550 5.1.1 User unknown", "userunknown"],
    ["550 5.1.1 <d2@x.org>: User unknown in virtual mailbox table. Questions? Contact our abuse team.", "userunknown"],
    ["550 5.1.1 The mailbox d3 does not exist. Read our privacy policy at the site.", "userunknown"],
    ["550 5.1.1 spam... User unknown", "userunknown"],
    ["550 5.1.1 mx-antispam-3.example.net: no such user here", "userunknown"],
    ["550 5.1.1 blacklist.example.net: no such user here", "userunknown"],
    ["550 5.1.1 User unknown; ptr=ok spf=pass", "userunknown"],
    ["550 5.1.1 mailbox not found, message rejected", "userunknown"],
    ["550 5.1.1 Unbekannter Nutzer", "userunknown"],
    ["550 5.1.1 <d11@x.org> account is blocked", "userunknown"],
    ["550 5.1.1 Rejected by policy", "userunknown"],
    ["550-5.1.1 The account does not exist.\r\n550 5.1.1 For more information, go to the policy page", "userunknown"],
    ["550 5.2.1 Mailbox suspended for abuse", "disabled"],
  ])("when the words beside a code of the address are %j, then the code decides", (reply, reason) => {
    for (const stage of ["rcpt-to", "report"] as const) expect(said(stage, reply)).toEqual(byCode(bounced(reason)));
  });

  it.each([
    "550 User unknown; ptr=ok spf=pass",
    "550 No such user here. Contact our abuse team.",
    "550 mx-policy.example.net: mailbox not found, message rejected",
    "550 5.0.0 Unknown user, see our anti-spam policy",
  ])("when a server without a code of the address says %j, then the words for an unknown user decide", (reply) => {
    for (const stage of ["rcpt-to", "report"] as const) expect(said(stage, reply)).toEqual(bounced("userunknown"));
  });

  it.each([
    "550 5.7.124 Sender not in allowed-senders list; authentication required",
    "550 5.7.133 RESOLVER.RST.SenderNotAuthenticatedForGroup; authentication required",
    "550 5.7.193 UserOrGroup cannot receive messages from senders outside: blocked by policy",
    "550 5.7.1 RESOLVER.RST.AuthRequired; authentication required",
    "550 5.2.0 Mailbox unavailable, rejected by user filter",
    "554 5.7.1 <ada@example.com>: Recipient address rejected: Access denied",
    "550 Mailbox unavailable or access denied [abc123]. http://service.example.net/help",
  ])("when a server says %j, then it concerns one recipient, who is not blamed", (reply) => {
    for (const stage of ["rcpt-to", "final-dot", "report"] as const)
      expect(said(stage, reply)).toEqual(failed("restricted"));
  });

  it.each<[string, string]>([
    ["450 4.2.1 Mailbox exceeded its daily limit", "quota"],
    ["421 4.2.1 Mailbox exceeded its daily limit", "quota"],
    ["450 4.2.1 Receiving mail at a rate that prevents delivery", "rate"],
    ["552 mailbox quota exceeded", "full"],
    ["552 5.2.2 Mailbox quota exceeded, sending is off", "full"],
    ["550 5.2.122 The recipient has exceeded their limit for messages per hour", "rate"],
    ["421 4.2.2 Mailbox full", "full"],
  ])("when one mailbox has a limit, %j, then neither its domain nor the sender waits", (reply, reason) => {
    for (const stage of ["rcpt-to", "final-dot"] as const) expect(said(stage, reply)).toMatchObject(retry(reason));
  });

  it.each<[string, string, object]>([
    ["a relay", "550 5.7.1 Unable to relay", held("relay")],
    ["a relay without a code", "554 Relay access denied", held("relay")],
    ["a password", "530 Log on first", held("auth")],
    ["DMARC", "550 5.7.26 Unauthenticated mail", held("policy")],
    ["a sender without mail", "550 5.7.27 Sender domain does not accept mail", held("sender")],
    ["Microsoft's rules for large senders", "550 5.7.515 Access denied, does not meet the level", held("policy")],
    ["Microsoft's blocklist", "550 5.7.606 Access denied, banned sending IP", held("blocked")],
    ["reputation", "550 5.7.1 The very low reputation of your domain", held("blocked")],
    ["policy alone", "554 5.7.9 Not accepted", held("policy")],
    ["spam", "550 5.7.1 Known spammer", held("spam")],
    ["rate, for good", "550 Rate limit reached", held("rate")],
    ["the sender's domain", "550 5.1.8 Sender address rejected: Domain not found", held("sender")],
  ])("when it is refused for %s, then the sender stops", (_, reply, meaning) => {
    expect(said("rcpt-to", reply)).toEqual(meaning);
  });

  it.each<[string, string, object]>([
    ["size", "552 5.3.4 Message too big", struck("size")],
    ["size without a code", "552 Aborted", struck("size")],
    ["syntax", "501 5.5.4 Bad argument", struck("syntax")],
    ["syntax without a code", "501 Bad address syntax", struck("syntax")],
    ["content", "554 5.6.0 Malformed", struck("content")],
    ["a loop", "554 5.4.6 Too many hops", struck("loop")],
    ["an option", "555 Unknown option", struck("syntax")],
    ["protocol, with words for an address", "550 5.5.0 Mailbox unavailable", failed("userunknown")],
  ])("when it is refused for %s, then the message is given up", (_, reply, meaning) => {
    expect(said("rcpt-to", reply)).toEqual(meaning);
  });
});

describe("a code without words", () => {
  it.each<[string, object]>([
    ["550 5.1.1", byCode(bounced("userunknown"))],
    ["550 5.1.2", byCode(bounced("hostunknown"))],
    ["550 5.1.3", byCode(bounced("userunknown"))],
    ["551 5.1.6", byCode(bounced("moved"))],
    ["556 5.1.10", byCode(bounced("hostunknown"))],
    ["556", bounced("hostunknown")],
    ["550 5.2.1", byCode(failed("unknown"))],
    ["550 5.2.2", retry("full")],
    ["550 5.2.3", struck("size")],
    ["550 5.3.0", failed("system")],
    ["550 5.3.4", struck("size")],
    ["550 5.4.1", failed("network")],
    ["550 5.4.4", failed("network")],
    ["550 5.4.5", hours(FOUR_HOURS)],
    ["550 5.4.6", struck("loop")],
    ["550 5.4.7", failed("expired")],
    ["550 5.5.0", struck("syntax")],
    ["550 5.5.2", struck("syntax")],
    ["550 5.6.1", struck("content")],
    ["550 5.7.1", held("policy")],
    ["550 5.1.7", held("sender")],
    ["550 5.1.8", held("sender")],
    ["550 5.0.0", failed("unknown")],
    ...[530, 534, 535, 538].map((code): [string, object] => [`${code}`, held("auth")]),
    ...[500, 501, 502, 503, 504, 555].map((code): [string, object] => [`${code}`, struck("syntax")]),
    ["552", struck("size")],
    ["550", failed("unknown")],
    ["550 5.1.4", failed("unknown")],
  ])("when a server says %s alone, then its code decides", (reply, meaning) => {
    expect(said("rcpt-to", reply)).toEqual(meaning);
  });

  it.each<[string, object]>([
    ["550 5.1.7 No such user", held("sender")],
    ["550 5.1.8 No such user", held("sender")],
    ["550 5.2.2 No such user", retry("full")],
    ["552 5.2.3 No such user", struck("size")],
    ["552 5.3.4 Mailbox full", retry("full")],
    ["550 5.4.4 Blocked", failed("network")],
    ["550 5.4.6 No such user", struck("loop")],
    ["550 5.5.1 No such user", struck("syntax")],
    ["550 5.6.0 No such user", struck("content")],
    ["530 Blocked", held("auth")],
    ["502 No such user", struck("syntax")],
    ["550 5.7.19 No such user", failed("userunknown")],
    ...[20, 40, 509, 515, 606, 649].map((n): [string, object] => [`550 5.7.${n} No such user`, held("policy")]),
    ["550 5.7.650 No such user", failed("userunknown")],
  ])("when a server says %s, then the code is stronger than its words", (reply, meaning) => {
    expect(said("rcpt-to", reply)).toEqual(meaning);
  });
});

describe("a refusal for now", () => {
  it.each<[string, string, object]>([
    ["with the address's code", "450 4.1.1 User unknown", retry("userunknown")],
    ["with a code for good", "451 5.1.1 User unknown", retry("userunknown")],
    ["by a greylist", "451 4.7.1 Greylisted, try again in 300 seconds", retry("greylisted", { afterSeconds: 300 })],
    ["while the server stops", "421 4.3.2 Service not available", backOff("system")],
    ["that closes without a code", "421 Closing connection", backOff("unknown")],
    ["of the domain's rate", "421 4.7.28 Unusual rate of mail", retry("rate", { backsDomainOff: true })],
    [
      "of the domain's rate in 10 minutes",
      "450 Too many mails, in 10 min",
      retry("rate", { backsDomainOff: true, afterSeconds: 600 }),
    ],
    ["of the domain's trust", "421 4.7.0 Deferred", retry("policy", { backsDomainOff: true })],
    ["of a quota", "452 4.5.3 Too many recipients", hours(FOUR_HOURS)],
    ["of a quota, by its words", "452 Daily message quota exceeded", { ...hours(FOUR_HOURS), needsOthers: true }],
    ["of a quota of a day", "452 4.5.3 Come back in 24 hours", hours(86_400)],
    ["of a relay", "454 4.7.1 Relay access denied", retry("relay")],
  ])("when it comes %s, then the message is tried again", (_, reply, meaning) => {
    expect(said("rcpt-to", reply)).toEqual(meaning);
    expect(said("final-dot", reply)).toEqual(meaning);
  });

  it.each<[ReplyStage, string]>([
    ["rcpt-to", "Connection closed unexpectedly"],
    ["data", "Timeout after 60 seconds"],
  ])("when the connection is lost at %s, then the message is tried again", (stage, text) => {
    expect(classifyReply({ stage, code: null, enhancedCode: null, text })).toEqual(retry("network"));
  });
});

describe("a message that is refused", () => {
  it.each<[string, string, object]>([
    [
      "is accepted",
      "250 2.0.0 Queued as 4XyZ",
      { ...NOTHING_ELSE, outcome: "sent", sender: "none", reason: "accepted" },
    ],
    ["is spam", "550 5.7.1 Message looks like spam", struck("spam")],
    ["has a virus", "554 Virus found", struck("content")],
    ["breaks a policy without a code", "554 Message rejected", struck("policy")],
    ["breaks a policy with an empty code", "554 5.0.0 Message rejected", struck("policy")],
    ["breaks DMARC", "550 5.7.26 Unauthenticated", held("policy")],
    ["comes from a blocked sender", "554 Blocked by Spamhaus", held("blocked")],
    ["fails", "554 Transaction failed", struck("unknown")],
    ["has an unknown recipient, by its words", "550 No such user", failed("userunknown")],
    ["has an unknown recipient, by its code", "550 5.1.1 Failed", byCode(failed("userunknown"))],
    ["has such a recipient, and a hint", "550 5.1.1 No such user, spf=pass", byCode(bounced("userunknown"))],
    ["has an unknown recipient, by both", "550 5.1.1 No such user", byCode(bounced("userunknown"))],
    ["meets a full mailbox", "552 5.2.2 Mailbox full", retry("full")],
  ])("when it %s, then that is its outcome", (_, reply, meaning) => {
    expect(said("final-dot", reply)).toEqual(meaning);
  });
});

const report = (code: number | null, enhancedCode: string | null, text: string): ReplyMeaning =>
  classifyReply({ stage: "report", code, enhancedCode, text });

describe("a report", () => {
  it.each<[string, ReplyMeaning, object]>([
    ["5.0.0 and plain words", report(550, "5.0.0", "User unknown"), bounced("userunknown")],
    ["5.5.0 and plain words", report(550, "5.5.0", "User unknown"), bounced("userunknown")],
    ["5.0.0 and no words", report(null, "5.0.0", ""), failed("unknown")],
    ["a status alone", report(null, "5.1.1", ""), byCode(bounced("userunknown"))],
    ["a status of the passing kind", report(null, "4.4.1", "Connection timed out"), retry("network")],
    ["no code and plain words", report(null, null, "mailbox not found"), bounced("userunknown")],
    ["no code and no words", report(null, null, ""), failed("unknown")],
    ["an expired message", report(null, "5.4.7", "delivery time expired"), failed("expired")],
  ])("when it has %s, then that decides", (_, meaning, expected) => {
    expect(meaning).toEqual(expected);
  });
});
