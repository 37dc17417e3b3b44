import type { Command } from "commander";
import { EMAIL_SUBJECT_MAX, INTRO_MESSAGE_MAX } from "../../../../contract/limits.ts";
import { LOCALES } from "../../../../contract/locales.ts";
import { formatScoreSpan } from "../../../../contract/text/score-span.ts";
import { quoteText } from "../../../../contract/text/invisible.ts";
import { type TextChange, TEXT_NAMES, type TextName, textProblem } from "../../../../service/domain/projects/texts.ts";
import type { FlagRecord } from "../../../args/flag-record.ts";
import type { Flags } from "../../../args/flags.ts";
import { parseChoice, parseScoreSpan } from "../../../args/values.ts";
import type { CommandContext } from "../../../command/command-context.ts";
import { UsageError } from "../../../errors/usage-error.ts";
import { projectVerb } from "../project-verb.ts";
import { TEXTS } from "../service-resources.ts";

/** An empty text takes one back. */
const TEXT_FLAGS: Readonly<Record<TextName, FlagRecord>> = {
  product_name: { flag: "--product-name", value: "name", text: "product name in the question" },
  subject: { flag: "--subject", value: "text", text: `e-mail subject, at most ${EMAIL_SUBJECT_MAX} characters` },
  intro: { flag: "--intro", value: "text", text: `text above the question, at most ${INTRO_MESSAGE_MAX} characters` },
  thank_you: { flag: "--thank-you", value: "text", text: "text on the thank-you page" },
  thank_you_link: { flag: "--thank-you-link", value: "url", text: "link on the thank-you page" },
  thank_you_link_text: { flag: "--thank-you-link-text", value: "text", text: "text of that link" },
  comment_question: { flag: "--comment-question", value: "text", text: "question above the comment field" },
};

const SCOPE_FLAGS: readonly FlagRecord[] = [
  { flag: "--locale", value: "locale", text: "only for surveys in this language", choices: LOCALES },
  { flag: "--score", value: "range", text: "only for answers with these scores, such as 9-10 (not in the e-mail)" },
];

/** Throws UsageError. */
function readTexts(flags: Flags): {
  readonly scope: { readonly locale: (typeof LOCALES)[number] | null; readonly score: string | null };
  readonly change: TextChange;
} {
  const locale = flags.parse("--locale", (text, flag) => parseChoice(text, flag, LOCALES));
  const span = flags.parse("--score", parseScoreSpan);
  const score = span === null ? null : formatScoreSpan(span);
  const given = TEXT_NAMES.flatMap((name) => {
    const { flag } = TEXT_FLAGS[name];
    const text = flags.text(flag);
    if (text === null) return [];
    const problem = textProblem(name, text, score);
    if (problem !== null) throw new UsageError(`${flag}: ${quoteText(text)} ${problem}`);
    return [[name, text] as const];
  });
  if (given.length === 0) throw new UsageError(`specify at least one of ${flagNames()}`);
  return { scope: { locale, score }, change: Object.fromEntries(given) };
}

function flagNames(): string {
  const names = TEXT_NAMES.map((name) => TEXT_FLAGS[name].flag);
  return `${names.slice(0, -1).join(", ")} and ${names.at(-1) ?? ""}`;
}

export function registerTexts(parent: Command, context: CommandContext): void {
  const noun = parent.command("texts").description("default texts of surveys");
  projectVerb(context, noun, {
    kind: "texts",
    name: "set",
    summary: "set texts for all surveys, for a language or for scores; an empty value clears one",
    examples: [
      'surveyctl service texts set --subject "How was it?" --intro "Two minutes, please." --data survey.db',
      "surveyctl service texts set --locale de --subject 'Wie war es?' --thank-you 'Danke!'",
      "surveyctl service texts set --score 9-10 --thank-you-link https://example.com/review --thank-you-link-text 'Review us'",
      "surveyctl service texts set --score 0-6 --comment-question 'What went wrong?' --project acme",
    ],
    flags: [...Object.values(TEXT_FLAGS), ...SCOPE_FLAGS],
    columns: TEXTS,
    details: ({ flags }) => readTexts(flags),
  });
  projectVerb(context, noun, {
    kind: "texts",
    name: "show",
    summary: "show the texts, a row for each language and range of scores",
    examples: ["surveyctl service texts show --data survey.db", "surveyctl service texts show --json"],
    columns: TEXTS,
    details: () => ({ scope: { locale: null, score: null }, change: {} }),
  });
}
