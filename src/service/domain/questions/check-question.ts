import {
  CHOICE_TEXT_MAX,
  CHOICES_MAX,
  CHOICES_MIN,
  hasChoices,
  isQuestionId,
  type NumberSpan,
  QUESTION_TEXT_MAX,
  SCALE_FORMS,
  SCALE_MAX,
} from "../../../contract/questions/questions.ts";
import { isLocale } from "../../../contract/locales.ts";
import type { QuestionType } from "../../../contract/resources.ts";
import { textFault } from "../../../contract/text/storable.ts";
import { InvalidError } from "../errors.ts";

export interface WantedTranslation {
  readonly text: string;
  readonly choices: readonly string[];
}

export interface WantedQuestion {
  /** Defaults to `q1`, `q2` and so on. */
  readonly id?: string;
  readonly type: QuestionType;
  readonly text: string;
  readonly choices: readonly string[];
  readonly scale: NumberSpan | null;
  readonly to: readonly NumberSpan[] | null;
  /** Translations by locale. If omitted, existing ones stay. */
  readonly texts?: Readonly<Record<string, WantedTranslation>>;
}

/** Where the first mistake is (positions start at 0), and the end of the message about it. */
type Fault = readonly [place: string, phrase: string] | null;

export function checkQuestion(wanted: WantedQuestion): void {
  refuse(
    idFault(wanted.id) ??
      faultAt("text", wanted.text, QUESTION_TEXT_MAX) ??
      choicesFault(wanted) ??
      scaleFault(wanted) ??
      translationsFault(wanted),
  );
}

export function checkTranslation(locale: string, texts: WantedTranslation, choices: number): void {
  refuse(translationFault(locale, texts, { choices, place: "" }));
}

function refuse(fault: Fault): void {
  if (fault === null) return;
  const [place, phrase] = fault;
  const name = place.replace(/\.?\bchoices\.(\d+)$/, (_, at: string) => ` choice ${Number(at) + 1}`).trim();
  throw new InvalidError({ [place]: [phrase] }, `${name} ${phrase}`);
}

function idFault(id: string | undefined): Fault {
  if (id === undefined || isQuestionId(id)) return null;
  return ["id", "must be 1 to 40 characters of a to z, 0 to 9, _ and -"];
}

function faultAt(place: string, text: string, max: number): Fault {
  const phrase = textFault(text, { max });
  return phrase === null ? null : [place, phrase];
}

function choicesFault({ type, choices }: WantedQuestion): Fault {
  if (!hasChoices(type)) return choices.length === 0 ? null : ["choices", `are only for select_one and select_many`];
  if (choices.length < CHOICES_MIN || choices.length > CHOICES_MAX)
    return ["choices", `must be ${CHOICES_MIN} to ${CHOICES_MAX} (got ${choices.length})`];
  const twice = choices.find((text, at) => choices.indexOf(text) < at);
  if (twice !== undefined) return ["choices", `must differ: ${JSON.stringify(twice)} is there twice`];
  return eachFault("choices", choices);
}

function eachFault(place: string, choices: readonly string[]): Fault {
  for (const [at, text] of choices.entries()) {
    const fault = faultAt(`${place}.${at}`, text, CHOICE_TEXT_MAX);
    if (fault !== null) return fault;
  }
  return null;
}

function scaleFault({ type, scale }: WantedQuestion): Fault {
  if (type !== "scale") return scale === null ? null : ["scale", "is only for questions of type scale"];
  if (scale === null) return ["scale", `is required: ${SCALE_FORMS}`];
  const { from, to } = scale;
  const isGood = Number.isInteger(from) && Number.isInteger(to) && from >= 0 && from <= 1 && to > from;
  return isGood && to <= SCALE_MAX ? null : ["scale", `must be ${SCALE_FORMS}`];
}

function translationsFault({ texts = {}, choices }: WantedQuestion): Fault {
  for (const [locale, given] of Object.entries(texts)) {
    const fault = translationFault(locale, given, { choices: choices.length, place: `texts.${locale}.` });
    if (fault !== null) return fault;
  }
  return null;
}

function translationFault(
  locale: string,
  { text, choices }: WantedTranslation,
  { choices: wanted, place }: { readonly choices: number; readonly place: string },
): Fault {
  if (!isLocale(locale)) return [place === "" ? "locale" : `texts.${locale}`, "is not a supported locale"];
  if (choices.length !== wanted)
    return [`${place}choices`, `must be as many as the question has, ${wanted} (got ${choices.length})`];
  return faultAt(`${place}text`, text, QUESTION_TEXT_MAX) ?? eachFault(`${place}choices`, choices);
}
