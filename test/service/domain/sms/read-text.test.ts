/** What people text back, and what is made of it. */
import { expect, it } from "vitest";
import { readTextMeaning } from "../../../../src/service/domain/sms/read-text.ts";

/** The meaning as one word or two: `9`, `9 comment`, `stop` (`stop!` where providers answer it themselves), `words`. */
function meaningOf(text: string): string {
  const meaning = readTextMeaning(text);
  if (meaning.kind === "score")
    return [meaning.score, ...(meaning.comment === null ? [] : [meaning.comment])].join(" ");
  if (meaning.kind === "words") return "words";
  return `${meaning.kind}${meaning.isCommon ? "!" : ""}`;
}

it.each<readonly [text: string, meaning: string]>([
  // Scores.
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
  // Scores with a comment.
  ["9 great service", "9 great service"],
  ["9. Great service!", "9 Great service!"],
  ["9, the staff are kind", "9 the staff are kind"],
  ["7 - too slow", "7 too slow"],
  ["3\nNobody answered\nthe phone", "3 Nobody answered\nthe phone"],
  ["9/10 would buy again", "9 would buy again"],
  ["10 because of Ann, who stopped by at 5", "10 because of Ann, who stopped by at 5"],
  ["9:great", "9 great"],
  // Digits of other scripts.
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
  // No scores.
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
  // No more, in whatever form.
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
  ["ARRET", "stop"],
  ["Arrêt svp", "stop"],
  ["Stopp bitte!", "stop"],
  ["стоп", "stop"],
  ["停止", "stop"],
  ["הסר", "stop"],
  ["توقف", "stop"],
  ["BAJA", "stop"],
  // About something else.
  ["STOP this bill", "words"],
  ["cancel my order", "words"],
  ["don't stop", "words"],
  ["The end of the month suits me", "words"],
  ["9 stop calling me", "9 stop calling me"],
  // Back again, and who is it.
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
