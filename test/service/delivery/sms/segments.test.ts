/** Segment counts by the lengths in GSM 03.38 and 03.40, and for every language. */
import { expect, it } from "vitest";
import { LOCALES } from "../../../../src/contract/locales.ts";
import { replySms, surveySms } from "../../../../src/service/delivery/message/survey-sms.ts";
import { toSmsText } from "../../../../src/service/delivery/sms/segments.ts";

it.each<[string, string, number, "gsm-7" | "ucs-2"]>([
  ["nothing", "", 1, "gsm-7"],
  ["160 letters", "a".repeat(160), 1, "gsm-7"],
  ["161 letters", "a".repeat(161), 2, "gsm-7"],
  ["306 letters", "a".repeat(306), 2, "gsm-7"],
  ["307 letters", "a".repeat(307), 3, "gsm-7"],
  ["459 letters", "a".repeat(459), 3, "gsm-7"],
  ["80 euros", "€".repeat(80), 1, "gsm-7"],
  ["81 euros", "€".repeat(81), 2, "gsm-7"],
  ["a brace that would be cut in two", `${"a".repeat(152)}{${"a".repeat(152)}`, 3, "gsm-7"],
  ["each letter of two", "^{}\\[~]|€", 1, "gsm-7"],
  ["Greek capitals and umlauts", "ΔΦΓΛΩΠΨΣΘΞ ÄÖÑÜ§¿äöñüà ÆæßÉ", 1, "gsm-7"],
  ["70 Cyrillic letters", "я".repeat(70), 1, "ucs-2"],
  ["71 Cyrillic letters", "я".repeat(71), 2, "ucs-2"],
  ["134 Cyrillic letters", "я".repeat(134), 2, "ucs-2"],
  ["135 Cyrillic letters", "я".repeat(135), 3, "ucs-2"],
  ["35 emoji", "👍".repeat(35), 1, "ucs-2"],
  ["an emoji that would be cut in two", `${"я".repeat(66)}👍${"я".repeat(66)}`, 3, "ucs-2"],
  ["one ç among 70", `ç${"a".repeat(70)}`, 2, "ucs-2"],
])("when a text is %s, then it takes %d segments", (_, text, segments, encoding) => {
  expect(toSmsText(text)).toEqual({ text, segments, encoding });
});

it("when typographic signs alone keep a text from GSM's alphabet, then plain ones replace them", () => {
  const [given, plain] = ["“It’s fine” – really…\u00A0yes", '"It\'s fine" - really... yes'];
  expect(toSmsText(given)).toEqual({ text: plain, segments: 1, encoding: "gsm-7" });
  expect(toSmsText(`${given} да`).text).toBe(`${given} да`);
});

it("when a survey or a reply is written in any language, then it takes three segments at most", () => {
  const token = "t".repeat(22);
  const long = LOCALES.flatMap((locale) => {
    const properties = { locale, question_product_name: "Acme" };
    const survey = { token, properties, channel: "sms" } as const;
    const about = { appUrl: "https://acme.example", sender: "Acme Inc.", canReply: true };
    const kinds = ["ask-comment", "thanks", "ask-again", "unclear", "help", "stopped", "started"] as const;
    const texts = [
      surveySms(survey, { ...about, mode: "link" }),
      surveySms(survey, { ...about, mode: "conversation" }),
      ...kinds.map((kind) => replySms({ kind, score: 10, properties }, about)),
    ];
    return texts.filter((text) => toSmsText(text).segments > 3).map((text) => `${locale}: ${text}`);
  });
  expect(long).toEqual([]);
});

it("the text of a survey costs no more than its question in any language", () => {
  const costly = LOCALES.filter((locale) => {
    const survey = { token: "t".repeat(22), properties: { locale }, channel: "sms" } as const;
    const text = surveySms(survey, { appUrl: "https://acme.example", sender: "Acme", mode: "link", canReply: true });
    const { encoding } = toSmsText(text.split("\n")[0] ?? "");
    return toSmsText(text).encoding !== encoding;
  });
  expect(costly).toEqual([]);
});

it.each(["pt", "pt-BR", "es", "fr", "nl", "en", "de"] as const)("all default texts in %s are GSM-7", (locale) => {
  const properties = { locale, question_product_name: "Acme" };
  const about = { appUrl: "https://acme.example", sender: "Acme", canReply: true };
  const kinds = ["ask-comment", "thanks", "ask-again", "unclear", "help", "stopped"] as const;
  const texts = [
    ...(["link", "conversation"] as const).map((mode) =>
      surveySms({ token: "t".repeat(22), properties, channel: "sms" }, { ...about, mode }),
    ),
    ...kinds.map((kind) => replySms({ kind, score: 10, properties }, about)),
  ];
  expect(texts.filter((text) => toSmsText(text).encoding !== "gsm-7")).toEqual([]);
});
