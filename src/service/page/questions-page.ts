import { plainAnswers, type PlainAnswer } from "../../contract/questions/additional-answers.ts";
import { FREE_RESPONSE_MAX } from "../../contract/questions/questions.ts";
import type { AdditionalAnswer, Choice } from "../../contract/resources.ts";
import { type Html, html } from "../../contract/text/html.ts";
import type { AnswerProblem, AskedQuestion, GivenAnswers } from "../domain/answers/answer-questions.ts";
import { fillText, surveyTexts } from "../domain/texts/survey-texts.ts";
import { type HtmlPage, problemSummary } from "./document.ts";
import { numberScale, type SurveyView } from "./survey-page.ts";

export const QUESTIONS_PATH = "questions";

/** `busy`: nothing is wrong with the form; it can be sent again later. */
type QuestionsProblem = AnswerProblem | { readonly kind: "busy" };

export interface QuestionsView extends SurveyView {
  readonly asked: readonly AskedQuestion[];
  readonly given: GivenAnswers;
  readonly problem: QuestionsProblem | null;
}

export function questionsPage(view: QuestionsView): HtmlPage {
  const { words, brand, action, visit, asked, problem } = view;
  const { locale } = words;
  const texts = surveyTexts(locale);
  const faulty = faultyQuestion(view);
  const summary = problem === null ? null : problemSummary(problemText(view), faulty === null ? null : fieldId(faulty));
  return {
    status: problem === null ? 200 : problem.kind === "busy" ? 429 : 422,
    locale,
    brand,
    title: problem === null ? texts.moreQuestions : `${texts.errorTitle} ${texts.moreQuestions}`,
    body: html`${summary}
      <h1>${texts.moreQuestions}</h1>
      <p class="soft">${texts.commentHint}</p>
      <form method="post" action="${action}" novalidate>
        ${visit === undefined ? null : html`<input type="hidden" name="visit" value="${visit}" />`}
        ${asked.map((question) => field(view, question))}<button>${texts.send}</button>
      </form>`,
  };
}

function problemText({ words, problem }: QuestionsView): string {
  const { errorAnswer, errorAnswerTooLong, errorTooMany } = surveyTexts(words.locale);
  if (problem?.kind === "busy") return errorTooMany;
  return problem?.kind === "long" ? fillText(errorAnswerTooLong, { max: FREE_RESPONSE_MAX }) : errorAnswer;
}

function fieldId(question: string): string {
  return `answer-${question}`;
}

function faultyQuestion({ problem }: QuestionsView): string | null {
  return problem === null || problem.kind === "busy" ? null : problem.question;
}

function describeFault(view: QuestionsView, { id }: AskedQuestion) {
  if (faultyQuestion(view) !== id) return { marks: null, text: null };
  const place = `${fieldId(id)}-problem`;
  return {
    marks: html` aria-invalid="true" aria-describedby="${place}"`,
    text: html`<p class="wrong" id="${place}">${problemText(view)}</p> `,
  };
}

function field(view: QuestionsView, question: AskedQuestion): Html {
  const asked = html`<input type="hidden" name="asked" value="${question.id}" />`;
  return question.type === "free_response"
    ? html`${asked}${textField(view, question)}`
    : html`${asked}${choiceField(view, question)}`;
}

function textField(view: QuestionsView, question: AskedQuestion): Html {
  const { id, text } = question;
  const fault = describeFault(view, question);
  return html`<div class="more">
    <p class="comment"><label for="${fieldId(id)}" dir="auto">${text}</label></p>
    ${fault.text}<textarea id="${fieldId(id)}" name="answers[${id}]" dir="auto" rows="4" ${fault.marks}>
${view.given.get(id)?.[0] ?? ""}</textarea>
  </div> `;
}

function choiceField(view: QuestionsView, question: AskedQuestion): Html {
  const { id, type, text } = question;
  const fault = describeFault(view, question);
  const given = (view.given.get(id) ?? []).filter((value) => value !== "");
  const none = { id: "", text: surveyTexts(view.words.locale).noAnswer };
  const option = (choice: Choice, first: boolean): OptionView => ({
    question: id,
    kind: type === "select_many" ? "checkbox" : "radio",
    choice,
    isChecked: choice.id === "" ? given.length === 0 : given.includes(choice.id),
    elementId: first ? fieldId(id) : null,
  });
  const options = listChoices(question).map((choice, at) => option(choice, at === 0));
  return html`<fieldset${fault.marks}>
    <legend dir="auto"><strong>${text}</strong></legend>
    ${fault.text}${
      type === "scale" ? numberScale(options.map(numberOption)) : options.map(choiceOption)
    }${type === "select_many" ? null : choiceOption(option(none, false))}
  </fieldset> `;
}

function listChoices({ scale, choices }: AskedQuestion): readonly Choice[] {
  if (scale === null) return choices;
  return Array.from({ length: scale.to - scale.from + 1 }, (_, step) => {
    const number = String(scale.from + step);
    return { id: number, text: number };
  });
}

interface OptionView {
  readonly question: string;
  readonly kind: "radio" | "checkbox";
  readonly choice: Choice;
  readonly isChecked: boolean;
  readonly elementId: string | null;
}

function input({ question, kind, choice, isChecked, elementId }: OptionView): Html {
  const id = elementId === null ? null : html` id="${elementId}"`;
  const checked = isChecked ? html` checked` : null;
  return html`<input type="${kind}" name="answers[${question}]" value="${choice.id}" ${id}${checked} />`;
}

function choiceOption(option: OptionView): Html {
  return html`<label class="choice">${input(option)}<span dir="auto">${option.choice.text}</span></label> `;
}

function numberOption(option: OptionView): Html {
  return html`<label>${input(option)}<span>${option.choice.text}</span></label> `;
}

export function furtherAnswers(
  { words }: SurveyView,
  answers: readonly AdditionalAnswer[],
  asked: readonly AskedQuestion[],
  url: string,
): Html | null {
  const shown = plainAnswers({ additional_answers: answers });
  if (shown.length === 0 && asked.length === 0) return null;
  const { moreQuestions, change } = surveyTexts(words.locale);
  const isOpen = asked.some(({ id }) => answers.every(({ question }) => question.id !== id));
  const link = html`<p><a href="${url}">${isOpen ? moreQuestions : change}</a></p> `;
  return html`${shown.map(storedAnswer)}${asked.length === 0 ? null : link}`;
}

function storedAnswer({ question, value }: PlainAnswer): Html {
  const texts = typeof value === "object" ? value.map(({ text }) => text) : [String(value)];
  return html`<p class="soft" dir="auto">${question}</p>
    ${texts.map((text) => html`<blockquote dir="auto">${text}</blockquote> `)}`;
}
