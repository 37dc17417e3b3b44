import type { Command } from "commander";
import { LOCALES } from "../../../../contract/locales.ts";
import {
  CHOICE_TEXT_MAX,
  CHOICES_MAX,
  CHOICES_MIN,
  type NumberSpan,
  QUESTION_TEXT_MAX,
  QUESTION_TYPES,
  QUESTIONS_MAX,
  readScale,
  readScores,
  SCALE_FORMS,
  SCORES_FORMS,
} from "../../../../contract/questions/questions.ts";
import type { FlagRecord } from "../../../args/flag-record.ts";
import { badValue, parseChoice, parseInteger, parseName } from "../../../args/values.ts";
import type { CommandContext } from "../../../command/command-context.ts";
import { UsageError } from "../../../errors/usage-error.ts";
import { projectVerb } from "../project-verb.ts";
import { QUESTIONS, SHOWN_QUESTION } from "../service-resources.ts";

const ID = ["<id>", "the question's id, from `service question list`"] as const;

const CHOICE_FLAG: FlagRecord = {
  flag: "--choice",
  value: "text",
  text: `a choice, at most ${CHOICE_TEXT_MAX} characters; in the order in which people see them`,
  repeatable: true,
};

export function registerQuestion(parent: Command, context: CommandContext): void {
  const noun = parent
    .command("question")
    .description("further questions, which the survey's page asks after the score");
  registerAdd(noun, context);
  projectVerb(context, noun, {
    kind: "question.list",
    name: "list",
    alias: "ls",
    summary: "list questions in the order asked, then retired ones",
    examples: ["surveyctl service question list --data survey.db", "surveyctl service question list --json"],
    columns: QUESTIONS,
  });
  projectVerb(context, noun, {
    kind: "question.show",
    name: "show",
    summary: "show one question with its translations",
    operands: [ID],
    examples: [
      "surveyctl service question show q_improve --data survey.db",
      "surveyctl service question show q1 --json --project acme",
    ],
    columns: SHOWN_QUESTION,
    details: ({ operands: [id = ""] }) => ({ id }),
  });
  registerMove(noun, context);
  registerRetire(noun, context);
  registerText(noun, context);
}

function registerAdd(noun: Command, context: CommandContext): void {
  projectVerb(context, noun, {
    kind: "question.add",
    name: "add",
    summary: `add a question; up to ${QUESTIONS_MAX} are asked`,
    operands: [["<text>", `the question, at most ${QUESTION_TEXT_MAX} characters`]],
    examples: [
      "surveyctl service question add 'What should we fix?' --type free_response --to 0-6 --data survey.db",
      "surveyctl service question add 'What matters most?' --type select_one --choice Price --choice Support",
      "surveyctl service question add 'How easy was it?' --type scale --scale 1-5 --id q_effort",
    ],
    flags: [
      {
        flag: "--type",
        value: "type",
        text: "kind of answer: own words, a number, one choice or several; required",
        choices: QUESTION_TYPES,
      },
      { ...CHOICE_FLAG, text: `${CHOICE_FLAG.text}; ${CHOICES_MIN} to ${CHOICES_MAX}` },
      { flag: "--scale", value: "range", text: "numbers of a scale, from 0 or 1 to at most 10, such as 1-5" },
      {
        flag: "--to",
        value: "scores",
        text: "ask only people with these scores, such as 0-6 or 0-6,9-10",
        otherwise: "everybody",
      },
      {
        flag: "--id",
        value: "id",
        text: "the question's id, 1 to 40 of a-z, 0-9, _ and -",
        otherwise: "q1, q2 and so on",
      },
    ],
    columns: QUESTIONS,
    details: ({ flags, operands: [text = ""] }) => {
      const type = flags.parse("--type", (given, place) => parseChoice(given, place, QUESTION_TYPES));
      if (type === null) throw new UsageError(`--type is required: one of ${QUESTION_TYPES.join(", ")}`);
      const id = flags.parse("--id", parseName);
      const choices = flags.all("--choice");
      const scale = flags.parse("--scale", parseScale);
      const to = flags.parse("--to", parseScores);
      return { question: { ...(id === null ? {} : { id }), type, text, choices, scale, to } };
    },
    done: ({ id }) => `Added question ${id}.`,
  });
}

function registerMove(noun: Command, context: CommandContext): void {
  projectVerb(context, noun, {
    kind: "question.move",
    name: "move",
    summary: "ask a question earlier or later",
    operands: [ID],
    examples: [
      "surveyctl service question move q_improve --to 1 --data survey.db",
      "surveyctl service question move q1 --to 3 --project acme",
    ],
    flags: [{ flag: "--to", value: "n", text: "its place among the questions, from 1; required" }],
    columns: QUESTIONS,
    details: ({ flags, operands: [id = ""] }) => {
      const to = flags.parse("--to", (text, place) => parseInteger(text, place, { min: 1, max: QUESTIONS_MAX }));
      if (to === null) throw new UsageError("--to is required: a place from 1");
      return { id, to };
    },
  });
}

function registerRetire(noun: Command, context: CommandContext): void {
  projectVerb(context, noun, {
    kind: "question.retire",
    name: "retire",
    summary: "stop asking a question and keep its answers; its id is not used again",
    operands: [ID],
    examples: [
      "surveyctl service question retire q_improve --data survey.db",
      "surveyctl service question retire q1 --yes --project acme",
    ],
    columns: QUESTIONS,
    details: ({ operands: [id = ""] }) => ({ id }),
    removal: {
      command: "service question retire",
      losesNothing: true,
      question: async (admin, { project, operands: [id] }) => {
        const question = (await admin({ kind: "question.list", project })).find((one) => one.id === id);
        if (question === undefined || question.retired_at !== null) return null;
        return `Retire question "${question.text}"? It is asked no more; its answers stay.`;
      },
    },
    done: ({ id }) => `Retired question ${id}; its answers stay.`,
  });
}

function registerText(noun: Command, context: CommandContext): void {
  projectVerb(context, noun, {
    kind: "question.text",
    name: "text",
    summary: "translate a question; an empty text clears a translation",
    operands: [ID, ["<text>", "the question in that language"]],
    examples: [
      "surveyctl service question text q_improve --locale de 'Was sollten wir zuerst verbessern?' --data survey.db",
      "surveyctl service question text q2 --locale fr 'Le plus important ?' --choice Prix --choice Assistance",
    ],
    flags: [
      { flag: "--locale", value: "locale", text: "language of the text; required", choices: LOCALES },
      { ...CHOICE_FLAG, text: "a choice in that language; as many as the question has, in their order" },
    ],
    columns: SHOWN_QUESTION,
    details: ({ flags, operands: [id = "", text = ""] }) => {
      const locale = flags.parse("--locale", (given, place) => parseChoice(given, place, LOCALES));
      if (locale === null) throw new UsageError("--locale is required, as in --locale de");
      const choices = flags.all("--choice");
      return { id, locale, texts: text === "" && choices.length === 0 ? null : { text, choices } };
    },
  });
}

/** Throws UsageError. */
function parseScale(text: string, place: string): NumberSpan {
  const scale = readScale(text);
  if (scale === null) throw badValue(place, text, SCALE_FORMS);
  return scale;
}

/** Throws UsageError. */
function parseScores(text: string, place: string): readonly NumberSpan[] {
  const scores = readScores(text);
  if (scores === null) throw badValue(place, text, SCORES_FORMS);
  return scores;
}
