import { EMAIL_SUBJECT_MAX, INTRO_MESSAGE_MAX, QUESTION_MAX } from "../../../../contract/limits.ts";
import { LOCALES } from "../../../../contract/locales.ts";
import { quoteText } from "../../../../contract/text/invisible.ts";
import { TEXT_NAMES, type TextName, textProblem } from "../../../../service/domain/projects/texts.ts";
import { UsageError } from "../../../errors/usage-error.ts";
import { defineGroup } from "../../../kit/command-node.ts";
import { flagOf } from "../../../args/flag-record.ts";
import { serviceCommand } from "../service-command.ts";

const TEXT_FLAGS = {
  product_name: { value: "name", text: "product name in the question" },
  question: {
    value: "text",
    text: `the question, at most ${QUESTION_MAX} characters; {product} stands for the product name, the scale is always 0 to 10`,
  },
  subject: { value: "text", text: `e-mail subject, at most ${EMAIL_SUBJECT_MAX} characters` },
  intro: { value: "text", text: `text above the question, at most ${INTRO_MESSAGE_MAX} characters` },
  thank_you: { value: "text", text: "text on the thank-you page" },
  thank_you_link: { value: "url", text: "link on the thank-you page" },
  thank_you_link_text: { value: "text", text: "text of that link" },
  comment_question: { value: "text", text: "question above the comment field" },
} as const;

export const texts = defineGroup({
  name: "texts",
  summary: "default texts of surveys",
  commands: [
    serviceCommand({
      operation: "texts.set",
      summary: "set texts for all surveys, for a language or for scores; an empty value clears one",
      examples: [
        'surveyctl service texts set --subject "How was it?" --intro "Two minutes, please." --data survey.db',
        'surveyctl service texts set --question "Would you recommend {product} to others?"',
        "surveyctl service texts set --locale de --subject 'Wie war es?' --thank-you 'Danke!'",
        "surveyctl service texts set --score 9-10 --thank-you-link https://example.com/review --thank-you-link-text 'Review us'",
        "surveyctl service texts set --score 0-6 --comment-question 'What went wrong?' --project acme",
      ],
      flags: {
        ...TEXT_FLAGS,
        locale: { value: "locale", text: "only for surveys in this language", choices: LOCALES },
        score: { value: "range", text: "only for answers with these scores, such as 9-10 (not in the e-mail)" },
      },
      noun: "texts",
      input: (given) => {
        checkTexts(given, given.score);
        return given;
      },
    }),
    serviceCommand({
      operation: "texts.show",
      summary: "show the texts, one row per language and range of scores",
      examples: ["surveyctl service texts show --data survey.db", "surveyctl service texts show --json"],
      noun: "texts",
    }),
  ],
});

function checkTexts(given: Readonly<Record<TextName, string | null>>, score: string | null): void {
  const names = TEXT_NAMES.filter((name) => given[name] !== null);
  for (const name of names) {
    const text = given[name] ?? "";
    const problem = textProblem(name, text, score);
    if (problem !== null) throw new UsageError(`${flagOf(name)}: ${quoteText(text)} ${problem}`);
  }
  const flags = TEXT_NAMES.map(flagOf);
  if (names.length === 0)
    throw new UsageError(`specify at least one of ${flags.slice(0, -1).join(", ")} and ${flags.at(-1)}`);
}
