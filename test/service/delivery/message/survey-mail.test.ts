import path from "node:path";
import PostalMime from "postal-mime";
import { describe, expect, it, test } from "vitest";
import { LOCALES, type Locale } from "../../../../src/contract/locales.ts";
import { systemRandom } from "../../../../src/runtime/random.ts";
import { chooseSender, NO_SENDER } from "../../../../src/service/delivery/message/sender.ts";
import { formatSurveyMail, freezeMail, toFrozenMessage } from "../../../../src/service/delivery/message/survey-mail.ts";
import { readDkimKey, signMail } from "../../../../src/service/delivery/mail/dkim.ts";
import { composeMail, needsSmtpUtf8 } from "../../../../src/service/delivery/message/mime.ts";
import { formatSurveySms } from "../../../../src/service/delivery/message/survey-sms.ts";
import type { FrozenMessage } from "../../../../src/service/domain/ports.ts";
import { surveyTexts } from "../../../../src/service/domain/texts/survey-texts.ts";
import { RSA_PEM } from "../../../helpers/smtp-plan-server.ts";
import { dueSurvey } from "../due.ts";
import { readMail } from "../read-mail.ts";
import { APP_URL, countingTokens, inLocale, mail, NOW, rawMail, TOKEN, UNSAID, UNSUBSCRIBE_TOKEN } from "./mailing.ts";

const golden = (name: string): string => path.join(import.meta.dirname, "../../../golden/mail", name);

it("when a survey has no properties, then the mail is plain English in ASCII", async () => {
  const raw = await rawMail();
  expect(raw).toMatch(/^[\x20-\x7e\r\n]*$/);
  const { headers, parts } = readMail(raw);
  expect(headers).toEqual({
    from: "surveys@survey.example.com",
    to: "Ada <ada@example.com>",
    subject: "How are we doing?",
    date: "Sun, 15 Jun 2025 15:06:40 +0000",
    "message-id": "<random1of16@survey.example.com>",
    "content-language": "en",
    "list-id": "<default.survey.example.com>",
    "list-unsubscribe": `<${APP_URL}/u/${UNSUBSCRIBE_TOKEN}>`,
    "list-unsubscribe-post": "List-Unsubscribe=One-Click",
    "feedback-id": "1:survey:en:81590adf86",
    "auto-submitted": "auto-generated",
    "x-auto-response-suppress": "OOF, AutoReply",
    "mime-version": "1.0",
    "content-type": 'multipart/alternative; boundary="--_NmP-random2of18-Part_1"',
  });
  const scores = Array.from({ length: 11 }, (_, score) => `${APP_URL}/s/${TOKEN}?score=${score}`);
  const page = `${APP_URL}/s/${TOKEN}`;
  expect([...(parts["text/html"] ?? "").matchAll(/href="([^"]*)"/g)].map(([, href]) => href)).toEqual([
    ...scores,
    page,
    `${APP_URL}/u/${UNSUBSCRIBE_TOKEN}`,
  ]);
  expect([...(parts["text/plain"] ?? "").matchAll(/https\S+/g)].map(([link]) => link)).toEqual([
    ...scores,
    page,
    `${APP_URL}/u/${UNSUBSCRIBE_TOKEN}`,
  ]);
  expect(parts["text/plain"]).toContain("How likely are you to recommend us to a friend?\n");
});

it("when the special properties are set, then each has its place", async () => {
  const properties = {
    question_product_name: "Café <Zoë>",
    service_email_subject: "Ваше мнение 🙂 о нас, которое нам важно знать, и ещё немного длиннее",
    service_intro_message: "Hi!\nOne question & a <b>score</b>.",
    locale: "fr",
  };
  const { headers, parts } = await mail({ properties });
  expect(headers).toMatchObject({
    subject: properties.service_email_subject,
    "content-language": "fr",
    from: "Café <Zoë> <surveys@survey.example.com>",
  });
  expect(parts["text/plain"]).toContain(
    "Hi!\nOne question & a <b>score</b>.\n\nQuelle est la probabilité que vous recommandiez Café <Zoë> à un proche ?\n",
  );
  expect(parts["text/html"]).toContain('<html lang="fr" dir="ltr">');
  expect(parts["text/html"]).toContain("Hi!<br>\nOne question &#38; a &#60;b&#62;score&#60;/b&#62;.");
  expect(parts["text/html"]).toContain("recommandiez Caf\u00e9 &#60;Zo\u00eb&#62; \u00e0 un proche");
});

it.each<[string, Locale]>([
  ["xx", "en"],
  ["fr-FR", "en"],
  ...LOCALES.map((locale): [string, Locale] => [locale, locale]),
])("when the locale is %s, then the mail is in %s and says so", async (locale, language) => {
  const { headers, parts } = await mail(inLocale(locale));
  const texts = surveyTexts(language);
  expect(headers).toMatchObject({ "content-language": language, subject: texts.subject });
  expect(headers["feedback-id"]).toContain(`:${language}:`);
  expect(parts["text/plain"]).toContain(`${texts.question}\n\n${texts.choose}\n\n0 (${texts.notLikely}): ${APP_URL}`);
});

describe("the sender", () => {
  const project = { id: 4, name: "Acme Shoes" };

  it("when the project and the server say who sends, then the project's word stands", () => {
    const server = { ...NO_SENDER, from: "nps@server.example", replyTo: "help@server.example", footer: "Server" };
    const settings = { ...UNSAID, from: "ask@acme.example", senderName: "Acme" };
    expect(chooseSender(settings, { ...server, bounceAddress: "b+{token}@b.example" }, APP_URL)).toEqual({
      from: "ask@acme.example",
      senderName: "Acme",
      replyTo: "help@server.example",
      footer: "Server",
      bounceAddress: "b+{token}@b.example",
    });
  });

  it("when all is set, then headers and the lines below the mail show it", async () => {
    const sender = {
      from: "ask@bücher.example",
      senderName: 'Acme "S", Inc.',
      replyTo: "help@bücher.example",
      footer: "Acme <Ltd>\n1 High Street",
    };
    const { headers, parts } = await mail({ project, sender });
    expect(headers).toMatchObject({
      from: '"Acme \\"S\\", Inc." <ask@xn--bcher-kva.example>',
      "reply-to": "help@xn--bcher-kva.example",
      "message-id": "<random1of16@xn--bcher-kva.example>",
      "list-id": "<acme-shoes.xn--bcher-kva.example>",
      "feedback-id": "4:survey:en:970ca6b73e",
    });
    const why = "You're receiving this because you're a customer of Acme \"S\", Inc.";
    expect(parts["text/plain"]).toContain(
      `${why}\n\nAcme <Ltd>\n1 High Street\n\nUnsubscribe from surveys: ${APP_URL}/u/`,
    );
    expect(parts["text/html"]).toContain("Acme &#60;Ltd&#62;<br>\n1 High Street");
  });

  it.each([
    [{ id: 1, name: "default" }, null, null, "surveys@survey.example.com", "survey.example.com"],
    [project, null, null, "Acme Shoes <surveys@survey.example.com>", "Acme Shoes"],
    [{ id: 1, name: "default" }, "Runner 3", null, "Runner 3 <surveys@survey.example.com>", "survey.example.com"],
    [project, "Runner 3", null, "Runner 3 <surveys@survey.example.com>", "Acme Shoes"],
    [project, "Runner 3", "Acme", "Acme <surveys@survey.example.com>", "Acme"],
  ])(
    "when the project is %j, the product %j and the name %j, then it is from %s",
    async (of, product, name, from, shown) => {
      const properties = product === null ? {} : { question_product_name: product };
      const { headers, parts } = await mail({ project: of, properties, sender: { senderName: name } });
      expect(headers.from).toBe(from);
      expect(parts["text/plain"]).toContain(`a customer of ${shown}.`);
    },
  );

  it.each([
    ["an address of numbers", "http://127.0.0.1:8080", "surveys@localhost"],
    ["an IPv6 address", "http://[::1]:8080", "surveys@localhost"],
    ["a name", "https://nps.example.org:8443", "surveys@nps.example.org"],
  ])("when nobody says who sends and the pages are at %s, then the mail is from %s", async (_, appUrl, from) => {
    expect((await mail({ appUrl })).headers.from).toBe(from);
  });

  it.each([
    ["http://127.0.0.1:8080", "ours"],
    ["http://localhost:8080", "ours"],
    ["http://surveys.localhost", "ours"],
    ["http://nas.local", "ours"],
    ["http://intranet", "ours"],
    ["https://nps.example.org", "nps.example.org"],
    ["https://umfrage.bücher.example", "umfrage.bücher.example"],
  ])("without a name, the footer of a mail from %s says: a customer of %s", async (appUrl, whose) => {
    const { parts } = await mail({ appUrl });
    expect(parts["text/plain"]).toContain(`\n\nYou're receiving this because you're a customer of ${whose}.\n\n`);
  });
});

it("when pages have no TLS, then there is no one-click unsubscribing, but the link in the mail", async () => {
  const { headers, parts } = await mail({ appUrl: "http://survey.example.com" });
  expect(Object.keys(headers).filter((name) => name.startsWith("list-unsubscribe"))).toEqual([]);
  expect(parts["text/plain"]).toContain(`Unsubscribe from surveys: http://survey.example.com/u/${UNSUBSCRIBE_TOKEN}\n`);
});

it("when the public URL is long, then the unsubscribe header is still one line", async () => {
  const appUrl = `https://${"very-long-name.".repeat(12)}example.com/surveys`;
  expect(await rawMail({ appUrl })).toContain(`\r\nList-Unsubscribe: <${appUrl}/u/${UNSUBSCRIBE_TOKEN}>\r\n`);
});

it("when a mail is rendered again later, then every byte is the same", async () => {
  const due = dueSurvey({ unsubscribeToken: UNSUBSCRIBE_TOKEN });
  const sender = chooseSender({ ...UNSAID, senderName: "Acme" }, NO_SENDER, APP_URL);
  const frozen = freezeMail(due, { sender }, countingTokens(), NOW);
  expect(frozen).toEqual({
    messageId: "random1of16@survey.example.com",
    at: NOW,
    from: { name: "Acme", address: "surveys@survey.example.com" },
    boundary: "random2of18",
    subject: "How are we doing?",
  });
  const kept = JSON.parse(JSON.stringify(toFrozenMessage(frozen, "b"))) as FrozenMessage;
  expect(kept).toMatchObject({ messageId: "random1of16@survey.example.com", bounceToken: "b" });
  const renamed = { ...sender, senderName: "Other", from: "x@y.example" };
  const again = freezeMail({ ...due, attempts: 7, frozen: kept }, { sender: renamed }, systemRandom, NOW + 999);
  const context = { appUrl: APP_URL, sender };
  expect(await formatSurveyMail(due, again, context)).toBe(await formatSurveyMail(due, frozen, context));
  expect(freezeMail(due, { sender }, systemRandom, NOW).boundary).toMatch(/^[\w-]{24}$/);
});

describe("text that people wrote", () => {
  const person = { id: 3, email: "ada@example.com", name: 'A"b\\c\r\nBcc: all@x.co', phoneNumber: null };

  it("when a name or subject holds line breaks, then no header is smuggled in", async () => {
    const properties = { service_email_subject: "Hi\r\nBcc: all@x.co", question_product_name: "$&\r\n $1" };
    const { headers, parts } = await mail({ person, properties });
    expect(headers).toMatchObject({
      to: '"A\\"b\\\\c Bcc: allx.co" <ada@example.com>',
      from: '"$& $1" <surveys@survey.example.com>',
      subject: "Hi Bcc: all@x.co",
    });
    expect(headers.bcc).toBeUndefined();
    expect(parts["text/plain"]).toContain("recommend $& $1 to a friend");
  });

  it("when an intro holds lone dots and bare line breaks, then every line still ends with CRLF", async () => {
    const intro = "Hello\n.\n\r.\rMAIL FROM:<x@y>\u2028.";
    const raw = await rawMail({ properties: { service_intro_message: intro } });
    expect(raw.replaceAll("\r\n", "")).not.toMatch(/[\r\n]/);
    expect(readMail(raw).parts["text/plain"]).toMatch(/^Hello\n\.\n\n\.\nMAIL FROM:<x@y>\n\.\n\nHow likely/);
  });

  it("when text is turned around, then it is shown in its own direction", async () => {
    const properties = { question_product_name: "Acme\u202e", service_email_subject: "\u2066ok\u2069 \u202egpj.exe" };
    const { headers, parts } = await mail({ person: { ...person, name: "\u202eAda" }, properties });
    expect([headers.to, headers.subject]).toEqual(["Ada <ada@example.com>", "ok gpj.exe"]);
    expect(JSON.stringify(parts)).not.toMatch(/[\u202a-\u202e\u2066-\u2069]/);
  });

  it.each([
    ["Bill <ceo@x.example>", '"Bill ceox.example" <ada@example.com>'],
    ["@", "ada@example.com"],
    ["Lovelace, Ada", '"Lovelace, Ada" <ada@example.com>'],
    [null, "ada@example.com"],
  ])("when a person is called %j, then the mail is for %s", async (name, to) => {
    expect((await mail({ person: { ...person, name } })).headers.to).toBe(to);
  });

  it.each([
    ["=?utf-8?q?Bill_=3Cceo=40x.example=3E?=", "=?utf-8?q?Bill_=3Cceo=40x.example=3E?="],
    ['=?utf-8?B?PGNlb0B4Pg==?= "B\\"', '=?utf-8?B?PGNlb0B4Pg==?= "B\\"'],
    ["Zoë =?utf-8?q?=40?=", "Zoë =?utf-8?q?=40?="],
  ])("an encoded word that somebody typed stays text: %s", async (typed, shown) => {
    const properties = { service_email_subject: typed, question_product_name: typed };
    const parsed = await PostalMime.parse(await rawMail({ person: { ...person, name: typed }, properties }));
    expect([parsed.subject, parsed.from?.name, parsed.to?.[0]?.name]).toEqual([shown, shown, shown]);
    expect(parsed.to?.[0]?.address).toBe("ada@example.com");
  });

  it("when text is long and wide, then every line is short ASCII and reads back whole", async () => {
    const intro = "日本語の紹介文。 ".repeat(33).slice(0, 300).trim();
    const properties = { service_intro_message: intro, service_email_subject: "é".repeat(150), locale: "th" };
    const raw = await rawMail({ properties });
    for (const line of raw.split("\r\n")) expect(line).toMatch(/^[\x20-\x7e]{0,200}$/);
    const { headers, parts } = readMail(raw);
    expect(headers.subject).toBe("é".repeat(150));
    expect(parts["text/plain"]?.split("\n")[0]).toBe(intro);
  });
});

it.each([
  ["ada@example.com", "ada@example.com", false],
  ["o'brien+nps@example.com", "o'brien+nps@example.com", false],
  ["ada@bücher.example", "ada@xn--bcher-kva.example", false],
  ["zoë@example.com", "zoë@example.com", true],
  ["用户@例子.中国", "用户@例子.中国", true],
])("when mail goes to %s, then it is for %s, and whether it needs SMTPUTF8 is %s", async (email, to, needed) => {
  expect((await mail({ person: { id: 3, email, name: null, phoneNumber: null } })).headers.to).toBe(to);
  expect(needsSmtpUtf8(email)).toBe(needed);
});

it("when a header would hold a line break, then there is no message", async () => {
  const content = {
    from: { name: null, address: "a@b.example" },
    to: [],
    replyTo: null,
    subject: "",
    at: 0,
    messageId: "1@b.example",
    text: "text",
    html: "html",
    boundary: "b",
  };
  for (const value of ["a\r\nBcc: x", "a\nb", "a\r"])
    await expect(composeMail({ ...content, headers: [["X-A", value]] })).rejects.toThrow("header X-A has a line break");
  expect(await composeMail({ ...content, headers: [["X-A", "a b"]] })).toContain("X-A: a b\r\n");
});

test.each(["en", "de", "ar", "ja"])("the mail in %s looks as it did", async (locale) => {
  const { parts } = await mail({
    properties: { locale, question_product_name: "Acme", service_intro_message: "Hello Ada,\nthank you & welcome." },
    sender: { footer: "Acme Ltd, 1 High Street, Dublin" },
  });
  await expect(parts["text/plain"]).toMatchFileSnapshot(golden(`${locale}.txt`));
  await expect(parts["text/html"]).toMatchFileSnapshot(golden(`${locale}.html.txt`));
});

test("the bytes of a signed message stay as they are", async () => {
  const properties = { question_product_name: "Acme", service_email_subject: "Grüße", locale: "de" };
  const signed = await signMail(
    await rawMail({ properties }),
    readDkimKey(RSA_PEM, { domain: "b.example", selector: "s" }),
  );
  await expect(signed.replaceAll("\r\n", "\n")).toMatchFileSnapshot(golden("signed.eml.txt"));
});

it("when the channel is SMS, then the file is what a gateway is posted", () => {
  const properties = { question_product_name: "Acme", locale: "de" };
  expect(JSON.parse(formatSurveySms(dueSurvey({ channel: "sms", properties }), { appUrl: APP_URL }))).toEqual({
    to: "+14155551212",
    text: `Wie wahrscheinlich ist es, dass Sie Acme weiterempfehlen?\n${APP_URL}/s/${TOKEN}`,
  });
});
