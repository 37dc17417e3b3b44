import { expect, it } from "vitest";
import { formatSurveyMail, formatSurveySms } from "../../../src/service/delivery/survey-messages.ts";
import { dueSurvey } from "./due.ts";
import { readMail } from "./read-mail.ts";

const CONTEXT = { appUrl: "https://survey.example.com", now: 1_750_000_000 };
const TOKEN = "tokenOf22characters-_x";

it("when a survey has no properties, then the mail is plain English in ASCII", () => {
  const raw = formatSurveyMail(dueSurvey(), CONTEXT);
  expect(raw).toMatch(/^[\x20-\x7e\r\n]*$/);
  const { headers, parts } = readMail(raw);
  expect(headers).toEqual({
    from: "<surveys@survey.example.com>",
    to: '"Ada" <ada@example.com>',
    subject: "How are we doing?",
    date: "Sun, 15 Jun 2025 15:06:40 +0000",
    "message-id": "<survey-1-7@survey.example.com>",
    "content-language": "en",
    "list-unsubscribe": `<https://survey.example.com/u/${TOKEN}>`,
    "list-unsubscribe-post": "List-Unsubscribe=One-Click",
    "mime-version": "1.0",
    "content-type": `multipart/alternative; boundary="survey-1-7-${TOKEN}"`,
  });
  const links = Array.from({ length: 11 }, (_, score) => `https://survey.example.com/s/${TOKEN}?score=${score}`);
  expect([...(parts["text/html"] ?? "").matchAll(/href="([^"]*\/s\/[^"]*)"/g)].map(([, href]) => href)).toEqual(links);
  expect([...(parts["text/plain"] ?? "").matchAll(/https\S+\/s\/\S+/g)].map(([link]) => link)).toEqual(links);
  expect(parts["text/plain"]).toContain("How likely are you to recommend us to a friend?\n");
});

it("when the special properties are set, then each has its place", () => {
  const properties = {
    question_product_name: "Café <Zoë>",
    service_email_subject: "Ваше мнение 🙂 о нас, которое нам важно знать, и ещё немного длиннее",
    service_intro_message: "Hi!\nOne question & a <b>score</b>.",
    locale: "fr",
  };
  const { headers, parts } = readMail(formatSurveyMail(dueSurvey({ properties }), CONTEXT));
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

it.each([
  ["xx", "en"],
  ["fr-FR", "en"],
  ["ja", "en"],
  ["pt-BR", "pt-BR"],
])("when the locale is %s, then the mail says it is in %s", (locale, language) => {
  expect(readMail(formatSurveyMail(dueSurvey({ properties: { locale } }), CONTEXT)).headers["content-language"]).toBe(
    language,
  );
});

it("when a name or subject holds line breaks, then no header is smuggled in", () => {
  const person = { id: 3, email: "ada@example.com", name: 'A"b\\c\r\nBcc: all@x.co', phoneNumber: null };
  const raw = formatSurveyMail(
    dueSurvey({ person, properties: { service_email_subject: "Hi\r\nBcc: all@x.co", question_product_name: "$& $1" } }),
    CONTEXT,
  );
  const { headers, parts } = readMail(raw);
  expect(headers).toMatchObject({ to: '"A\\"b\\\\c Bcc: all@x.co" <ada@example.com>', subject: "Hi Bcc: all@x.co" });
  expect(headers.bcc).toBeUndefined();
  expect(parts["text/plain"]).toContain("recommend $& $1 to a friend");
});

it("when text is long and wide, then every line is short ASCII and reads back whole", () => {
  const intro = "日本語の紹介文。 ".repeat(33).slice(0, 300);
  const raw = formatSurveyMail(
    dueSurvey({ properties: { service_intro_message: intro, service_email_subject: "é".repeat(150) } }),
    CONTEXT,
  );
  for (const line of raw.split("\r\n")) expect(line).toMatch(/^[\x20-\x7e]{0,200}$/);
  const { headers, parts } = readMail(raw);
  expect(headers.subject).toBe("é".repeat(150));
  expect(parts["text/plain"]?.split("\n")[0]).toBe(intro);
});

it("when the channel is SMS, then the file is what a gateway is posted", () => {
  const sms = formatSurveySms(
    dueSurvey({ channel: "sms", properties: { question_product_name: "Acme", locale: "de" } }),
    CONTEXT.appUrl,
  );
  expect(JSON.parse(sms)).toEqual({
    to: "+14155551212",
    text: `Wie wahrscheinlich ist es, dass Sie Acme weiterempfehlen?\nhttps://survey.example.com/s/${TOKEN}`,
  });
});
