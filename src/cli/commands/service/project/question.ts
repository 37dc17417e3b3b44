import { LOCALES } from "../../../../contract/locales.ts";
import {
  CHOICE_TEXT_MAX,
  CHOICES_MAX,
  CHOICES_MIN,
  QUESTION_TEXT_MAX,
  QUESTION_TYPES,
  QUESTIONS_MAX,
} from "../../../../contract/questions/questions.ts";
import { parseName } from "../../../args/values.ts";
import { defineGroup } from "../../../kit/command-node.ts";
import { serviceCommand } from "../service-command.ts";

const ID = { form: "<id>", text: "the question's id, from `service question list`" } as const;

export const question = defineGroup({
  name: "question",
  summary: "further questions, asked on the survey page after the score",
  commands: [
    serviceCommand({
      operation: "question.add",
      summary: `add a follow-up question (at most ${QUESTIONS_MAX})`,
      examples: [
        "surveyctl service question add 'What should we fix?' --type free_response --to 0-6 --data survey.db",
        "surveyctl service question add 'What matters most?' --type select_one --choice Price --choice Support",
        "surveyctl service question add 'How easy was it?' --type scale --scale 1-5 --id q_effort",
      ],
      args: { text: { form: "<text>", text: `the question, at most ${QUESTION_TEXT_MAX} characters` } },
      flags: {
        type: {
          value: "type",
          text: "kind of answer: own words, a number, one choice or several",
          choices: QUESTION_TYPES,
          required: true,
        },
        choice: {
          value: "text",
          text: `a choice, at most ${CHOICE_TEXT_MAX} characters; give ${CHOICES_MIN} to ${CHOICES_MAX}, in the order shown to people`,
          repeatable: true,
        },
        scale: { value: "range", text: "numbers of a scale, from 0 or 1 to at most 10, such as 1-5" },
        to: {
          value: "scores",
          text: "ask only people with these scores, such as 0-6 or 0-6,9-10",
          otherwise: "everyone",
        },
        id: {
          value: "id",
          text: "the question's id: 1 to 40 characters from a-z, 0-9, _ and -",
          otherwise: "q1, q2 and so on",
          parse: parseName,
        },
      },
      noun: "questions",
      done: ({ id }) => `Added question ${id}.`,
    }),
    serviceCommand({
      operation: "question.list",
      summary: "list questions in the order asked, then retired ones",
      examples: ["surveyctl service question list --data survey.db", "surveyctl service question list --json"],
      noun: "questions",
      dropFirst: ["retired_at", "scale", "choices", "type"],
    }),
    serviceCommand({
      operation: "question.show",
      summary: "show one question with its translations",
      examples: [
        "surveyctl service question show q_improve --data survey.db",
        "surveyctl service question show q1 --json --project acme",
      ],
      args: { id: ID },
      noun: "questions",
    }),
    serviceCommand({
      operation: "question.move",
      summary: "ask a question earlier or later",
      examples: [
        "surveyctl service question move q_improve --to 1 --data survey.db",
        "surveyctl service question move q1 --to 3 --project acme",
      ],
      args: { id: ID },
      flags: {
        to: { value: "n", text: "its place among the questions, from 1", required: true },
      },
      noun: "questions",
    }),
    serviceCommand({
      operation: "question.retire",
      summary: "stop asking a question and keep its answers; its id is not used again",
      examples: [
        "surveyctl service question retire q_improve --data survey.db",
        "surveyctl service question retire q1 --yes --project acme",
      ],
      args: { id: ID },
      noun: "questions",
      losesNothing: true,
      asks: true,
      done: ({ id }) => `Retired question ${id}; its answers stay.`,
    }),
    serviceCommand({
      operation: "question.text",
      summary: "translate a question; an empty text clears a translation",
      examples: [
        "surveyctl service question text q_improve --locale de 'Was sollten wir zuerst verbessern?' --data survey.db",
        "surveyctl service question text q2 --locale fr 'Le plus important ?' --choice Prix --choice Assistance",
      ],
      args: { id: ID, text: { form: "<text>", text: "the question in that language" } },
      flags: {
        locale: { value: "locale", text: "language of the text", choices: LOCALES, required: true },
        choice: {
          value: "text",
          text: "a choice in that language; give all, in the question's order",
          repeatable: true,
        },
      },
      noun: "questions",
    }),
  ],
});
