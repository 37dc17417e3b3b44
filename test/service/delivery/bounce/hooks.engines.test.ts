import { createHmac, createSign, generateKeyPairSync, sign } from "node:crypto";
import { readFileSync } from "node:fs";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { BounceHooks } from "../../../../src/service/delivery/bounce/hooks.ts";
import { finishDelivery, markTransmitting } from "../../../../src/service/domain/delivery/deliveries.ts";
import {
  hookPath,
  hookSecret,
  type HookSource,
  rotateHookSecret,
  setHookKey,
} from "../../../../src/service/domain/delivery/hook-secrets.ts";
import { explainPerson } from "../../../../src/service/domain/delivery/oversight.ts";
import { resubscribePerson } from "../../../../src/service/domain/people/suppressions.ts";
import { sendPerson } from "../../../../src/service/domain/people/people.ts";
import { claimAll, openFixture, sendInput, START, type Fixture } from "../../domain/fixture.ts";

const ELSEWHERE = { query: "", origin: "https://survey.example.com", from: "192.0.2.1" };
const TLS = path.join(import.meta.dirname, "../../../fixtures/tls");
const CERTIFICATE = readFileSync(path.join(TLS, "rsa-cert.pem"), "utf8");
const KEY = readFileSync(path.join(TLS, "rsa-key.pem"), "utf8");

interface World extends Fixture {
  readonly hooks: BounceHooks;
  readonly secret: string;
  readonly fetched: string[];
  readonly reports: string[];
  readonly refused: string[];
}

let world: World;
beforeEach(async () => {
  const fixture = await openFixture();
  const told = { fetched: [], reports: [], refused: [] };
  const hooks = openHooks(fixture, told);
  const secret = await fixture.write((tx) => hookSecret(tx));
  world = { ...fixture, hooks, secret, ...told };
  await mail("ada@x.co");
});
afterEach(() => world.store.close());

function openHooks({ store }: Fixture, told: Pick<World, "fetched" | "reports" | "refused">): BounceHooks {
  return new BounceHooks({
    store,
    fetchText: async (url) => {
      told.fetched.push(url);
      return CERTIFICATE;
    },
    metrics: {
      countReport: (source, outcome) => void told.reports.push(`${source} ${outcome}`),
      countRefusal: (why) => void told.refused.push(why),
    },
  });
}

async function mail(email: string): Promise<void> {
  await world.write((tx) => sendPerson(tx, world.project, sendInput({ email })));
  const [due] = await world.write(claimAll);
  await world.write(async (tx) => {
    await markTransmitting(tx, due!, {
      messageId: `${email.split("@")[0]}@survey.example`,
      bounceToken: null,
      values: {},
    });
    await finishDelivery(tx, due!, { kind: "sent" });
  });
}

interface Posted {
  readonly headers?: Readonly<Record<string, string>>;
  readonly secret?: string;
  readonly method?: string;
  readonly hooks?: BounceHooks;
}

async function post(source: HookSource, body: unknown, posted: Posted = {}): Promise<unknown> {
  const { headers = {}, secret = world.secret, method = "POST", hooks = world.hooks } = posted;
  const bytes = Buffer.from(typeof body === "string" ? body : JSON.stringify(body));
  const response = await hooks.handle({
    method,
    path: hookPath(secret, source),
    headers,
    ...ELSEWHERE,
    body: async () => bytes,
  });
  return response === null ? null : [response.status, JSON.parse(response.body as string)];
}

const OK = [200, { ok: true }];
const FORBIDDEN = [403, { status: 403, message: "Forbidden: the signature is not valid" }];
const BAD = [400, { status: 400, message: "Bad Request: this is not a report" }];

async function state(email = "ada@x.co"): Promise<string> {
  const { explanation } = await world.read((tx) => explainPerson(tx, world.project, email));
  return explanation;
}
const BOUNCED = "No mail: this address has bounced.";
const COMPLAINED = "No mail: this person reported a survey as spam.";
const SENT = "The newest survey (2) is sent.";
const leftAt = (source: string): string => `No mail: this person has unsubscribed (${source}).`;

describe("our own form", () => {
  test("when it says that an address is bad, then its owner bounces once", async () => {
    const report = { email: "Ada@x.co", type: "hard", reason: "no such user" };
    expect([await post("hook", report), await state()]).toEqual([OK, BOUNCED]);
    expect(await post("hook", [report, { message_id: "<ada@survey.example>", type: "hard" }])).toEqual(OK);
    expect(world.reports).toEqual(["hook bounced", "hook repeated", "hook repeated"]);
  });

  test("when it says that somebody leaves, then they are unsubscribed, with the reason", async () => {
    const report = { email: "ada@x.co", type: "unsubscribe", reason: "by phone" };
    expect([await post("hook", report), await state()]).toEqual([OK, leftAt("by phone")]);
  });

  test.each<[string, unknown]>([
    ["no type", { email: "ada@x.co" }],
    ["an unknown type", { email: "ada@x.co", type: "rude" }],
    ["neither address nor message", { type: "hard" }],
    ["one bad report of two", [{ email: "ada@x.co", type: "hard" }, 7]],
    ["no JSON", "type=hard"],
  ])("when a request has %s, then nothing of it counts and it is refused", async (_, body) => {
    expect([await post("hook", body), await state(), world.refused]).toEqual([BAD, SENT, ["body"]]);
  });

  test("when the method is not POST, then nothing is read", async () => {
    expect(await post("hook", {}, { method: "GET" })).toEqual([405, { status: 405, message: "Method Not Allowed" }]);
  });
});

test("when the secret is wrong, then the path is like any that is not there, and it is counted", async () => {
  const report = { email: "ada@x.co", type: "hard" };
  expect(await post("hook", report, { secret: "a".repeat(43) })).toBeNull();
  expect(await post("hook", report, { secret: "short" })).toBeNull();
  expect(await post("nonsense" as HookSource, report)).toBeNull();
  expect(world.refused).toEqual(["secret", "secret", "secret"]);
  expect(
    await world.hooks.handle({ method: "POST", path: "/hooks/sms/x", ...ELSEWHERE, headers: {}, body: neverRead }),
  ).toBeNull();
  expect(await state()).toBe(SENT);
});

function neverRead(): Promise<never> {
  throw new Error("read");
}

test("when the secret is rotated, then the old URL is gone", async () => {
  const rotated = await world.write((tx) => rotateHookSecret(tx));
  expect([await post("hook", []), await post("hook", [], { secret: rotated })]).toEqual([null, OK]);
  expect(rotated).toMatch(/^[\w-]{43}$/);
});

const MAILGUN_KEY = "key-of-mailgun";
function mailgun(data: object, key = MAILGUN_KEY, { at = String(START), token = "token" } = {}): object {
  const signed = { timestamp: at, token };
  const signature = createHmac("sha256", key)
    .update(signed.timestamp + signed.token)
    .digest("hex");
  const common = { id: "mg-1", recipient: "ada@x.co", message: { headers: { "message-id": "ada@survey.example" } } };
  return { signature: { ...signed, signature }, "event-data": { ...common, ...data } };
}
const sendGrid = (data: object): object => [
  { email: "ada@x.co", "smtp-id": "<ada@survey.example>", sg_event_id: "sg-1", timestamp: 1, ...data },
];
const postmark = (data: object): object => ({ RecordType: "Bounce", ID: 7, Email: "ada@x.co", ...data });
const changed = (data: object): object => ({
  RecordType: "SubscriptionChange",
  ID: undefined,
  Email: undefined,
  Recipient: "ada@x.co",
  ChangedAt: "2025-06-15T15:06:40Z",
  SuppressSending: true,
  SuppressionReason: "ManualSuppression",
  ...data,
});
const TOO_OLD = { event: "failed", severity: "permanent", "delivery-status": { code: 602, message: "Too old" } };
const GONE = "smtp;550 5.1.1 The email account that you tried to reach does not exist";
const BLOCKED = "550 5.7.1 blocked using Spamhaus";

describe("providers without a key", () => {
  test.each<[what: string, source: HookSource, body: object, reports: string[], state: string]>([
    ["a hard bounce", "postmark", postmark({ Type: "HardBounce", Details: GONE }), ["postmark bounced"], BOUNCED],
    ["a full mailbox", "postmark", postmark({ Type: "SoftBounce" }), ["postmark soft"], SENT],
    ["a complaint", "postmark", postmark({ RecordType: "SpamComplaint" }), ["postmark unsubscribed"], COMPLAINED],
    ["an automatic reply", "postmark", postmark({ Type: "AutoResponder" }), [], SENT],
    ["an opening", "postmark", postmark({ RecordType: "Open" }), [], SENT],
    ["a hard bounce", "sendgrid", sendGrid({ event: "bounce", status: "5.1.1" }), ["sendgrid bounced"], BOUNCED],
    [
      "a block that is called a bounce",
      "sendgrid",
      sendGrid({ event: "bounce", status: "5.7.1", reason: BLOCKED }),
      ["sendgrid logged"],
      SENT,
    ],
    [
      "an address that bounced earlier",
      "sendgrid",
      sendGrid({ event: "dropped", reason: "Bounced Address" }),
      ["sendgrid bounced"],
      BOUNCED,
    ],
    [
      "a bounce that is not the address's fault",
      "sendgrid",
      sendGrid({ event: "bounce", type: "bounce", bounce_classification: "Mailbox Unavailable" }),
      ["sendgrid soft"],
      SENT,
    ],
    ["a complaint", "sendgrid", sendGrid({ event: "spamreport" }), ["sendgrid unsubscribed"], COMPLAINED],
    ["a delay", "sendgrid", sendGrid({ event: "deferred" }), [], SENT],
    [
      "a hard bounce",
      "mailgun",
      mailgun({
        event: "failed",
        severity: "permanent",
        "delivery-status": { code: 550, message: "5.1.1 unknown user" },
      }),
      ["mailgun bounced"],
      BOUNCED,
    ],
    ["a delay", "mailgun", mailgun({ event: "failed", severity: "temporary" }), [], SENT],
    ["a complaint", "mailgun", mailgun({ event: "complained" }), ["mailgun unsubscribed"], COMPLAINED],
    ["an unsubscribe", "sendgrid", sendGrid({ event: "unsubscribe" }), ["sendgrid unsubscribed"], leftAt("sendgrid")],
    [
      "an unsubscribe of a group",
      "sendgrid",
      sendGrid({ event: "group_unsubscribe", "smtp-id": undefined }),
      ["sendgrid unsubscribed"],
      leftAt("sendgrid"),
    ],
    [
      "a message to somebody who unsubscribed earlier",
      "sendgrid",
      sendGrid({ event: "dropped", reason: "Unsubscribed Address" }),
      ["sendgrid unsubscribed"],
      leftAt("Unsubscribed Address"),
    ],
    ["a return to a group", "sendgrid", sendGrid({ event: "group_resubscribe" }), [], SENT],
    ["an unsubscribe", "mailgun", mailgun({ event: "unsubscribed" }), ["mailgun unsubscribed"], leftAt("mailgun")],
    [
      "a message to somebody who unsubscribed earlier",
      "mailgun",
      mailgun({ event: "failed", severity: "permanent", reason: "suppress-unsubscribe" }),
      ["mailgun unsubscribed"],
      leftAt("mailgun"),
    ],
    ["a message too old", "mailgun", mailgun({ ...TOO_OLD, reason: "old" }), ["mailgun soft"], SENT],
    ["a message too old, by its code", "mailgun", mailgun(TOO_OLD), ["mailgun soft"], SENT],
    ["an unsubscribe", "postmark", postmark(changed({})), ["postmark unsubscribed"], leftAt("postmark")],
    ["a return", "postmark", postmark(changed({ SuppressSending: false })), [], SENT],
    [
      "a request to be removed, sent as a reply,",
      "postmark",
      postmark({ Type: "Unsubscribe" }),
      ["postmark unsubscribed"],
      leftAt("postmark"),
    ],
    ["a bounce's suppression", "postmark", postmark(changed({ SuppressionReason: "HardBounce" })), [], SENT],
    [
      "a recipient's own filter",
      "postmark",
      postmark({ Type: "HardBounce", Details: "smtp;550 5.2.0 rejected by user filter" }),
      ["postmark logged"],
      SENT,
    ],
    [
      "a vacation",
      "postmark",
      postmark({ Type: "SoftBounce", Details: "I am out of office" }),
      ["postmark logged"],
      SENT,
    ],
  ])("when there is %s at %s, then that is what is recorded", async (_, source, body, reports, expected) => {
    expect([await post(source, body), world.reports, await state()]).toEqual([OK, reports, expected]);
    await post(source, body);
    expect(world.reports.slice(reports.length)).toEqual(reports.map(() => `${source} repeated`));
  });

  test("leaving counts long after the last survey, and again after coming back", async () => {
    const away = postmark(changed({ ChangedAt: undefined }));
    world.time.now += 60 * 86_400;
    expect([await post("postmark", away), await state()]).toEqual([OK, leftAt("postmark")]);
    await world.write(async (tx) => {
      const person = await tx.people.byEmail(world.project.id, "ada@x.co");
      await resubscribePerson(tx, world.project, person!);
    });
    world.time.now += 60;
    expect([await post("postmark", away), await state()]).toEqual([OK, leftAt("postmark")]);
    expect(world.reports).toEqual(["postmark unsubscribed", "postmark unsubscribed"]);
  });

  test.each<HookSource>(["postmark", "sendgrid", "mailgun", "ses"])(
    "when %s sends something else, then it is refused",
    async (source) => {
      expect(await post(source, { hello: "world" })).toEqual(BAD);
    },
  );
});

const PAIR = generateKeyPairSync("ec", { namedCurve: "prime256v1" });
const SENDGRID_KEY = PAIR.publicKey.export({ type: "spki", format: "der" }).toString("base64");
const signedAt = (at: number | string, signed: string): Posted => ({
  headers: {
    "x-twilio-email-event-webhook-timestamp": String(at),
    "x-twilio-email-event-webhook-signature": sign("sha256", Buffer.from(signed), PAIR.privateKey).toString("base64"),
  },
});
const login = (text: string): Posted => ({ headers: { authorization: `Basic ${btoa(text)}` } });

describe("providers with a key", () => {
  test("when Mailgun's signature is wrong, then nothing is recorded", async () => {
    await world.write((tx) => setHookKey(tx, "mailgun", MAILGUN_KEY));
    const event = { event: "complained" };
    expect(await post("mailgun", mailgun(event, "another key"))).toEqual(FORBIDDEN);
    expect(await post("mailgun", { "event-data": event })).toEqual(FORBIDDEN);
    expect([await state(), world.refused]).toEqual([SENT, ["signature", "signature"]]);
    expect([await post("mailgun", mailgun(event)), await state()]).toEqual([OK, COMPLAINED]);
  });

  test("when SendGrid's signature is wrong, then nothing is recorded", async () => {
    await world.write((tx) => setHookKey(tx, "sendgrid", SENDGRID_KEY));
    const body = JSON.stringify(sendGrid({ event: "spamreport" }));
    expect(await post("sendgrid", body)).toEqual(FORBIDDEN);
    expect(await post("sendgrid", body, signedAt(START, `${START + 1}${body}`))).toEqual(FORBIDDEN);
    expect(await state()).toBe(SENT);
    expect([await post("sendgrid", body, signedAt(START, `${START}${body}`)), await state()]).toEqual([OK, COMPLAINED]);
  });

  test.each([
    ["-301", FORBIDDEN],
    ["-300", OK],
    ["300", OK],
    ["301", FORBIDDEN],
  ])("when a signature was made %s seconds from now, then it counts within five minutes", async (seconds, answer) => {
    await world.write((tx) => setHookKey(tx, "mailgun", MAILGUN_KEY));
    await world.write((tx) => setHookKey(tx, "sendgrid", SENDGRID_KEY));
    const at = String(START + Number(seconds));
    const body = JSON.stringify(sendGrid({ event: "spamreport" }));
    expect(await post("mailgun", mailgun({ event: "complained" }, MAILGUN_KEY, { at }))).toEqual(answer);
    expect(await post("sendgrid", body, signedAt(at, at + body))).toEqual(answer);
    expect(await state()).toBe(answer === OK ? COMPLAINED : SENT);
  });

  test.each(["", " 1750000000", "1750000000.0", "1.75e9", "soon"])(
    "when the time of a signature is %j, then it is none",
    async (at) => {
      await world.write((tx) => setHookKey(tx, "mailgun", MAILGUN_KEY));
      expect(await post("mailgun", mailgun({ event: "complained" }, MAILGUN_KEY, { at }))).toEqual(FORBIDDEN);
    },
  );

  test("when one signature of Mailgun's comes with two bodies, then the first counts, in all processes", async () => {
    await world.write((tx) => setHookKey(tx, "mailgun", MAILGUN_KEY));
    const opened = { event: "opened" };
    expect(await post("mailgun", mailgun(opened))).toEqual(OK);
    const complaint = { event: "complained", id: "mg-2" };
    expect(await post("mailgun", mailgun(complaint))).toEqual(FORBIDDEN);
    const hooks = openHooks(world, world);
    expect(await post("mailgun", mailgun(complaint), { hooks })).toEqual(FORBIDDEN);
    expect([await state(), world.refused]).toEqual([SENT, ["signature", "signature"]]);
    const next = mailgun(complaint, MAILGUN_KEY, { token: "another" });
    const both = await Promise.all([post("mailgun", next), post("mailgun", next, { hooks })]);
    expect(both).toEqual(expect.arrayContaining([OK, FORBIDDEN]));
    expect([await state(), world.reports]).toEqual([COMPLAINED, ["mailgun unsubscribed"]]);
  });

  test("when a body of Mailgun's is no report, then its signature is not used up", async () => {
    await world.write((tx) => setHookKey(tx, "mailgun", MAILGUN_KEY));
    const { signature } = mailgun({}) as { signature: object };
    expect(await post("mailgun", { signature })).toEqual(BAD);
    expect(await post("mailgun", mailgun({ event: "complained" }))).toEqual(OK);
  });

  test("when one provider's key is kept, then nothing unsigned is taken on any path", async () => {
    await world.write((tx) => setHookKey(tx, "mailgun", MAILGUN_KEY));
    const report = { email: "ada@x.co", type: "complaint" };
    const closed = [403, { status: 403, message: "Forbidden: a key is kept, so unsigned reports are refused" }];
    expect(await post("hook", report)).toEqual(closed);
    expect(await post("postmark", postmark({ RecordType: "SpamComplaint" }))).toEqual(closed);
    expect(await post("postmark", postmark({ RecordType: "SpamComplaint" }), login("pm:secret"))).toEqual(closed);
    expect(await post("sendgrid", sendGrid({ event: "spamreport" }))).toEqual(closed);
    expect(await post("ses", envelope({ Message: "hello" }))).toEqual(OK);
    expect([await state(), world.refused]).toEqual([SENT, Array.from({ length: 4 }, () => "signature")]);
    await world.write((tx) => setHookKey(tx, "mailgun", ""));
    expect([await post("hook", report), await state()]).toEqual([OK, COMPLAINED]);
  });

  test("when Postmark logs in with another password, then nothing is recorded", async () => {
    await world.write((tx) => setHookKey(tx, "postmark", "pm:secret"));
    const body = postmark({ RecordType: "SpamComplaint" });
    expect([await post("postmark", body), await post("postmark", body, login("pm:other"))]).toEqual([
      FORBIDDEN,
      FORBIDDEN,
    ]);
    expect([await post("postmark", body, login("pm:secret")), await state()]).toEqual([OK, COMPLAINED]);
  });

  test.each(["sendgrid", "mailgun", "postmark"] as const)(
    "when a key of %s is not one, then it is refused",
    async (provider) => {
      await expect(world.write((tx) => setHookKey(tx, provider, "x"))).rejects.toThrow(`${provider} key is not`);
    },
  );
});

const HOST = "https://sns.eu-west-1.amazonaws.com";
const CERTIFICATE_URL = `${HOST}/SimpleNotificationService-1.pem`;

function envelope(given: Readonly<Record<string, string>>): Record<string, string> {
  const fields: Record<string, string> = {
    Type: "Notification",
    MessageId: "sns-1",
    TopicArn: "arn:aws:sns:eu-west-1:1:bounces",
    Message: "{}",
    Timestamp: "2025-06-15T15:06:40.000Z",
    SignatureVersion: "2",
    SigningCertURL: CERTIFICATE_URL,
    ...given,
  };
  const names =
    fields["Type"] === "Notification"
      ? ["Message", "MessageId", "Subject", "Timestamp", "TopicArn", "Type"]
      : ["Message", "MessageId", "SubscribeURL", "Timestamp", "Token", "TopicArn", "Type"];
  const text = names.flatMap((name) => (fields[name] === undefined ? [] : [`${name}\n${fields[name]}\n`])).join("");
  const digest = fields["SignatureVersion"] === "1" ? "RSA-SHA1" : "RSA-SHA256";
  return { ...fields, Signature: createSign(digest).update(text).sign(KEY, "base64") };
}
const bounce = (given: object, mailed: object = {}, type: object = { bounceType: "Permanent" }): string =>
  JSON.stringify({
    notificationType: "Bounce",
    bounce: { ...type, bouncedRecipients: [{ emailAddress: "ada@x.co", ...given }] },
    mail: mailed,
  });
const confirm = (SubscribeURL: string) =>
  post("ses", envelope({ Type: "SubscriptionConfirmation", Token: "t", SubscribeURL }));

describe("Amazon", () => {
  test.each([
    ["1", "a bounce", bounce({ diagnosticCode: GONE }), ["ses bounced"], BOUNCED],
    ["2", "a bounce", bounce({ diagnosticCode: GONE }), ["ses bounced"], BOUNCED],
    ["2", "a vacation", bounce({}, {}, { bounceType: "Transient", bounceSubType: "General" }), [], SENT],
    [
      "2",
      "a vacation with words",
      bounce({ diagnosticCode: "smtp; 451 4.3.0 auto-reply: on vacation" }, {}, { bounceType: "Transient" }),
      ["ses logged"],
      SENT,
    ],
    [
      "2",
      "a delay with words",
      bounce({ status: "4.4.7", diagnosticCode: "smtp; 550 4.4.7 expired" }, {}, { bounceType: "Transient" }),
      ["ses soft"],
      SENT,
    ],
    [
      "2",
      "a full mailbox",
      bounce({}, {}, { bounceType: "Transient", bounceSubType: "MailboxFull" }),
      ["ses soft"],
      SENT,
    ],
    ["2", "a block that is called permanent", bounce({ diagnosticCode: BLOCKED }), ["ses logged"], SENT],
    [
      "2",
      "a bounce, by our Message-ID",
      bounce({}, { headers: [{ name: "Message-ID", value: "<ada@survey.example>" }] }),
      ["ses bounced"],
      BOUNCED,
    ],
    [
      "2",
      "a complaint",
      JSON.stringify({ eventType: "Complaint", complaint: { complainedRecipients: [{ emailAddress: "ada@x.co" }] } }),
      ["ses unsubscribed"],
      COMPLAINED,
    ],
    ["2", "a delivery", JSON.stringify({ notificationType: "Delivery" }), [], SENT],
    ["2", "something else on the topic", "hello", [], SENT],
  ])(
    "when a notification signed by version %s is %s, then that is recorded once",
    async (version, _, Message, reports, expected) => {
      const body = envelope({ Message, SignatureVersion: version });
      expect([await post("ses", body), world.reports, await state()]).toEqual([OK, reports, expected]);
      await post("ses", body);
      expect(world.reports.slice(reports.length)).toEqual(reports.map(() => "ses repeated"));
      expect(world.fetched).toEqual([CERTIFICATE_URL]);
    },
  );

  test("when a notification was changed, then nothing is recorded", async () => {
    const body = { ...envelope({ Message: bounce({}) }), Message: bounce({ status: "5.1.1" }) };
    expect([await post("ses", body), await state(), world.refused]).toEqual([FORBIDDEN, SENT, ["signature"]]);
  });

  test.each([
    "https://sns.eu-west-1.amazonaws.com.evil.example/a.pem",
    "https://evil.example/sns.eu-west-1.amazonaws.com.pem",
    "http://sns.eu-west-1.amazonaws.com/a.pem",
    "https://sns.eu-west-1.amazonaws.com:8443/a.pem",
    "https://user@sns.eu-west-1.amazonaws.com/a.pem",
    "https://s3.eu-west-1.amazonaws.com/a.pem",
    "https://sns.eu-west-1.amazonaws.com/a.pem?b",
    "https://sns.eu-west-1.amazonaws.com/a.txt",
    "https://169.254.169.254/a.pem",
    "nonsense",
  ])(
    "when the certificate is said to be at %s, then nothing is fetched and nothing recorded",
    async (SigningCertURL) => {
      const body = envelope({ Message: bounce({}), SigningCertURL });
      expect([await post("ses", body), await state(), world.fetched]).toEqual([FORBIDDEN, SENT, []]);
    },
  );

  test("when a subscription is to be confirmed, then it is, at Amazon alone", async () => {
    expect(await confirm(`${HOST}/?Action=ConfirmSubscription&Token=t`)).toEqual(OK);
    expect(await confirm(`${HOST}/?Action=DeleteTopic`)).toEqual(BAD);
    expect(await confirm("https://evil.example/?Action=ConfirmSubscription")).toEqual(BAD);
    expect(world.fetched).toEqual([CERTIFICATE_URL, `${HOST}/?Action=ConfirmSubscription&Token=t`]);
  });
});
