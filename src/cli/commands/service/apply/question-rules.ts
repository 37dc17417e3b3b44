import { isMap } from "yaml";
import type { Json, JsonObject } from "../../../../contract/json.ts";
import {
  formatSpans,
  type NumberSpan,
  QUESTION_TYPES,
  readScale,
  readScores,
  SCALE_FORMS,
  SCORES_FORMS,
} from "../../../../contract/questions/questions.ts";
import type { ConfigurableQuestion, ConfiguredQuestion } from "../../../../service/domain/questions/configure.ts";
import { fields, list, mapOf, oneOf, orNull, parsed, text, type YamlRule } from "./yaml-reader.ts";

const number = parsed((given) => (/^\d{1,2}$/.test(given) ? Number(given) : null), "a whole number");
const scaleText = parsed((given) => orNothing(readScale(given), toJson), SCALE_FORMS);
const scaleMap = fields({ from: number, to: number }, ["from", "to"]);
const scale: YamlRule = (spot) => (isMap(spot.node) ? scaleMap(spot) : scaleText(spot));
const scores = parsed((given) => orNothing(readScores(given), (spans) => spans.map(toJson)), SCORES_FORMS);
const choices = orNull(list(text));

export function orNothing<Value>(value: Value | null, toValue: (value: Value) => Json): Json {
  return value === null ? null : toValue(value);
}

function toJson({ from, to }: NumberSpan): JsonObject {
  return { from, to };
}

export const QUESTION_LIST: YamlRule = list(
  fields(
    {
      id: text,
      type: oneOf(QUESTION_TYPES),
      text,
      choices,
      scale: orNull(scale),
      to: orNull(scores),
      texts: orNull(mapOf(fields({ text, choices }, ["text"]))),
    },
    ["type", "text"],
  ),
);

export interface ReadQuestion extends Omit<ConfigurableQuestion, "choices" | "texts"> {
  readonly choices?: readonly string[] | null;
  readonly texts?: Readonly<
    Record<string, { readonly text: string; readonly choices?: readonly string[] | null }>
  > | null;
}

export function toWanted({ choices: given, texts, ...rest }: ReadQuestion): ConfigurableQuestion {
  const translated = Object.entries(texts ?? {}).map(([locale, each]) => [
    locale,
    { text: each.text, choices: each.choices ?? [] },
  ]);
  return {
    ...rest,
    ...(given !== undefined && { choices: given ?? [] }),
    ...(texts !== undefined && { texts: Object.fromEntries(translated) as ConfiguredQuestion["texts"] }),
  };
}

export function formatQuestion({ id, type, text: asked, choices: given, scale: range, to, texts }: ConfiguredQuestion) {
  const spans = { scale: range === null ? null : formatSpans([range]), to: to === null ? null : formatSpans(to) };
  return { id, type, text: asked, choices: given, ...spans, texts };
}
