import { expect, it } from "vitest";
import { readTextMeaning } from "../../../../src/service/domain/sms/read-text.ts";
import type { TextContext } from "../../../../src/service/domain/sms/stop-wish.ts";

/** Short form: `9`, `9 comment`, `stop` (`stop!` if providers answer it themselves) or `words`. */
function meaningOf(text: string, context?: TextContext): string {
  const meaning = readTextMeaning(text, context);
  if (meaning.kind === "score")
    return [meaning.score, ...(meaning.comment === null ? [] : [meaning.comment])].join(" ");
  if (meaning.kind === "words") return "words";
  return `${meaning.kind}${meaning.isCommon ? "!" : ""}`;
}

it.each<readonly [text: string, meaning: string]>([
  ["9", "9"],
  ["0", "0"],
  ["10", "10"],
  [" 7 \n", "7"],
  ["9.", "9"],
  ["10!!!", "10"],
  ["8+", "8"],
  ["(9)", "9"],
  ["“9”", "9"],
  ["09", "9"],
  ["10/10", "10"],
  ["9 / 10", "9"],
  ["9 out of 10", "9"],
  ["8 von 10", "8"],
  ["8 sur 10, merci", "8 merci"],
  ["9\uFE0F\u20E3", "9"],
  ["🔟", "10"],
  ["10👍", "10 👍"],
  ["\u200B9\u200B", "9"],
  ["9\u2060 \u2764\uFE0F", "9 \u2764\uFE0F"],
  ["9 great service", "9 great service"],
  ["9. Great service!", "9 Great service!"],
  ["9, the staff are kind", "9 the staff are kind"],
  ["7 - too slow", "7 too slow"],
  ["3\nNobody answered\nthe phone", "3 Nobody answered\nthe phone"],
  ["9/10 would buy again", "9 would buy again"],
  ["10 because of Ann, who stopped by at 5", "10 because of Ann, who stopped by at 5"],
  ["9:great", "9 great"],
  ["９", "9"],
  ["１０／１０ 最高", "10 最高"],
  ["9分", "9"],
  ["10点です", "10 点です"],
  ["8점", "8"],
  ["٩", "9"],
  ["\u200F١٠ ممتاز", "10 ممتاز"],
  ["۷", "7"],
  ["९ अच्छा", "9 अच्छा"],
  ["๙ ดีมาก", "9 ดีมาก"],
  ["৮", "8"],
  ["𝟗", "9"],
  ["sorry, 8", "8"],
  ["I meant 8", "8"],
  ["*8", "8"],
  // Numbers of something else, several numbers, and scores that only look like them.
  ["5 stars", "words"],
  ["5 ⭐", "words"],
  ["9 €", "words"],
  ["2 weeks without an answer", "words"],
  ["3 visits and always friendly", "words"],
  ["5 Minuten gewartet", "words"],
  ["5 out of 5", "words"],
  ["4 von 5", "words"],
  ["8 or 9", "words"],
  ["8 oder 9", "words"],
  ["8 9", "words"],
  ["0 to 10: 9", "words"],
  ["9 since 2019", "9 since 2019"],
  ["9 an excellent service", "9 an excellent service"],
  ["100", "words"],
  ["11", "words"],
  ["-1", "words"],
  ["9-5 open?", "words"],
  ["9 - 5", "words"],
  ["9.5", "words"],
  ["9,5", "words"],
  ["9:30 is fine", "words"],
  ["9th", "words"],
  ["9%", "words"],
  ["9/5", "words"],
  ["9pm", "words"],
  ["010", "words"],
  ["I give it nine", "words"],
  ["nine", "words"],
  ["I'd say 9", "words"],
  ["Who is this?", "words"],
  ["👍", "words"],
  ["", "words"],
  ["thanks", "words"],
  ["STOP", "stop!"],
  ["stop", "stop!"],
  ["Stop.", "stop!"],
  [' "Stop"! ', "stop!"],
  ["ＳＴＯＰ", "stop!"],
  ["StopAll", "stop!"],
  ["STOP ALL", "stop"],
  ["unsubscribe", "stop!"],
  ["Cancel", "stop!"],
  ["END", "stop!"],
  ["quit", "stop!"],
  ["REVOKE", "stop!"],
  ["OptOut", "stop!"],
  ["Opt-out", "stop"],
  ["Stop. Thank you", "stop"],
  ["please stop", "stop"],
  ["STOP STOP STOP", "stop"],
  ["STOP 🛑", "stop!"],
  ["STOP \u26D4\uFE0F", "stop!"],
  ["\u2764\uFE0F stop", "stop!"],
  ["ST\u200BOP", "stop!"],
  ["d\u00E9s\u00ADinscrire", "stop"],
  ["S.T.O.P.", "stop"],
  ["S T O P", "stop"],
  ["ARRET", "stop"],
  ["Arrêt svp", "stop"],
  ["Stopp bitte!", "stop"],
  ["стоп", "stop"],
  ["停止", "stop"],
  ["הסר", "stop"],
  ["توقف", "stop"],
  ["\u0625\u0644\u063A\u0627\u0621", "stop"],
  ["\u062A\u0648\u064E\u0642\u0651\u0641", "stop"],
  ["BAJA", "stop"],
  ["REMOVE", "stop"],
  ["stop sms", "stop"],
  ["stop texting me", "stop"],
  ["Please stop sending text reminders", "stop"],
  ["unsubscribe me", "stop"],
  ["no more texts", "stop"],
  ["I don't want these messages", "stop"],
  ["opt me out", "stop"],
  ["how do I unsubscribe?", "stop"],
  ["Stop it", "stop"],
  ["wrong number", "stop"],
  ["I SAID STOP", "stop"],
  ["please take my number off your list", "stop"],
  ["I revoke my consent", "stop"],
  ["não me enviem mais mensagens", "stop"],
  ["Ik wil geen berichten meer", "stop"],
  ["STOP\n--\nAda Lovelace", "stop"],
  ["STOP - Ada Lovelace", "stop"],
  ["Great service. Please stop texting me.", "stop"],
  ["STOP to get no more messages", "stop"],
  ["Reply STOP to opt out", "stop"],
  ["STOP 9", "stop"],
  ["0 STOP", "stop"],
  ["9 no more texts please", "stop"],
  ["Stopp bitte keine SMS mehr", "stop"],
  ["Stop. I never signed up for this.", "stop"],
  ["I'd like to unsubscribe", "stop"],
  ["I no longer wish to receive texts", "stop"],
  ["You have the wrong number", "stop"],
  ["No, stop texting me", "stop"],
  ["Get me off this list", "stop"],
  ["no me escriban más", "stop"],
  ["Dejen de enviarme mensajes", "stop"],
  ["STOP PUB", "stop"],
  ["Désabonnement", "stop"],
  ["Lasst mich in Ruhe", "stop"],
  ["Hören Sie auf!", "stop"],
  ["pare de me mandar mensagem", "stop"],
  ["Sair da lista", "stop"],
  ["Non scrivetemi più", "stop"],
  ["stop met sms'en", "stop"],
  ["proszę nie pisać", "stop"],
  ["ingen flere sms'er", "stop"],
  ["mesaj atmayın", "stop"],
  ["그만 보내세요", "stop"],
  ["plus de messages svp", "stop"],
  ["no más mensajes", "stop"],
  ["не присылайте мне смс", "stop"],
  ["不要再给我发短信了", "stop"],
  ["문자 보내지 마세요", "stop"],
  // Homoglyphs, which no provider recognizes.
  ["S\u20E3T\u20E3O\u20E3P\u20E3", "stop"],
  ["🆂🆃🅾🅿", "stop"],
  ["\u0405\u0422\u041E\u0420", "stop"],
  ["ST\u041EP", "stop"],
  // Sentences that contain a keyword but mean something else.
  ["STOP this bill", "words"],
  ["stopp it 5", "words"],
  ["never stop", "words"],
  ["more texts please", "words"],
  ["6 no messages came", "6 no messages came"],
  ["cancel my order", "words"],
  ["don't stop", "words"],
  ["Not enough", "words"],
  ["not the end", "words"],
  ["Niet stoppen!", "words"],
  ["não parar", "words"],
  ["I never get your messages", "words"],
  ["I C U", "words"],
  ["The end of the month suits me", "words"],
  ["9 stop calling me", "9 stop calling me"],
  ["START", "start!"],
  ["unstop", "start!"],
  ["start please", "start"],
  ["START of the season", "words"],
  ["HELP", "help!"],
  ["info?", "help!"],
  ["Hilfe", "help"],
  ["help me with my order", "words"],
])("when %j is texted, then it means %j", (text, meaning) => {
  expect(meaningOf(text)).toBe(meaning);
});

const ENGLISH = { locale: "en" } as const;

it.each<readonly [text: string, afterScore: string, afterComment: string]>([
  ["8", "8", "8"],
  ["8/10", "8", "8"],
  ["*8", "8", "8"],
  ["sorry, 8", "8", "8"],
  ["8 please", "8", "8"],
  ["I meant 8 out of 10", "8", "8"],
  ["8 points", "8", "8"],
  ["I need help", "words", "words"],
  ["HELP", "help!", "help!"],
  ["3 visits and always friendly", "words", "words"],
  ["9 great service", "words", "words"],
  ["8 👍", "words", "words"],
  ["STOP 9", "stop", "stop"],
  ["STOP this bill", "words", "words"],
])("once there is a score, %j means %j, and after a comment %j", (text, afterScore, afterComment) => {
  expect(meaningOf(text, { asked: "comment", ...ENGLISH })).toBe(afterScore);
  expect(meaningOf(text, { asked: null, ...ENGLISH })).toBe(afterComment);
});

it.each([
  ["Alto", "es", ["words", "words", "stop"]],
  ["Alto", "en", ["stop", "stop", "stop"]],
  ["Dur", "fr", ["words", "words", "stop"]],
  ["Dur", "tr", ["stop", "stop", "stop"]],
  ["Huy", "vi", ["words", "words", "stop"]],
  ["Hủy", "vi", ["stop", "stop", "stop"]],
  ["Precio muy alto", "es", ["words", "words", "words"]],
] as const)("%j in a survey in %s counts by what is asked: %j", (text, locale, meanings) => {
  expect((["score", "comment", null] as const).map((asked) => meaningOf(text, { asked, locale }))).toEqual(meanings);
});

it.each<readonly [text: string, asked: TextContext["asked"], isUnclear: boolean]>([
  ["STOP this bill", "score", true],
  ["stopp it 5", "score", true],
  ["don't stop", "score", true],
  ["No thanks", "score", true],
  ["cancel my order", "score", true],
  ["Who is this?", "score", false],
  ["100", "score", false],
  ["STOP this bill", "comment", true],
  ["At the end I was happy", "comment", false],
])("whether %j might be an opt-out when %s is asked: %j", (text, asked, isUnclear) => {
  expect(readTextMeaning(text, { asked, ...ENGLISH })).toMatchObject({ kind: "words", mayWantToStop: isUnclear });
});

it("only a text of thanks is not kept after a comment", () => {
  const context = { asked: null, ...ENGLISH };
  expect(readTextMeaning("Thank you, thanks!", context)).toMatchObject({ kind: "words", text: "" });
  expect(readTextMeaning("I want more of this", context)).toMatchObject({ kind: "words", text: "I want more of this" });
});

it("an opt-out after a score is pointed to STOP", () => {
  expect(readTextMeaning("9 stop calling me")).toMatchObject({ kind: "score", score: 9, mayWantToStop: true });
  expect(readTextMeaning("9 great, non-stop")).toMatchObject({ kind: "score", score: 9, mayWantToStop: false });
});

it("a text of 64 KiB is read in no time", () => {
  for (const part of ["9 ", "stop ", "1 ", "> a\n", "no more "]) {
    const startedMs = performance.now();
    readTextMeaning(part.repeat(65_536 / part.length));
    expect(performance.now() - startedMs).toBeLessThan(1000);
  }
});
