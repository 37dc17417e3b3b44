import type { Json, JsonObject } from "../../../contract/json.ts";
import { suggest } from "../../args/suggest.ts";
import { parseChoice } from "../../args/values.ts";
import { COMPARISONS } from "../../kit/rows/properties.ts";
import { UsageError } from "../../errors/usage-error.ts";
import { WORD_FIELDS } from "./statistics.ts";

const OPERATORS = { ...COMPARISONS, "==": COMPARISONS["="] } as const;

type Operator = keyof typeof OPERATORS;

export interface Assertion {
  readonly text: string;
  readonly field: string;
  readonly operator: Operator;
  readonly value: number | string;
}

export function parseAssertion(text: string): Assertion {
  const [, field, operator, value] =
    /^\s*([a-z][a-z0-9_]*)\s*(>=|<=|==|!=|>|<|=)\s*([+-]?\d+(?:\.\d+)?)\s*$/.exec(text) ?? [];
  if (field === undefined || operator === undefined || value === undefined) {
    const words = parseWords(text);
    if (words !== null) return words;
    throw new UsageError(
      `--assert: "${text}" is not an assertion; write a field, one of >= > <= < = !=, and a number, as in 'nps>=40'`,
    );
  }
  return { text: text.trim(), field, operator: operator as Operator, value: Number(value) };
}

/** Parses an assertion such as `verdict!=fall`, which compares text. Null if the field isn't a text field. */
function parseWords(text: string): Assertion | null {
  const [, field = "", operator, value = ""] = /^\s*([a-z]+)\s*(==|!=|=)\s*(\S.*?)\s*$/.exec(text) ?? [];
  const words = Object.hasOwn(WORD_FIELDS, field) ? WORD_FIELDS[field] : undefined;
  if (words === undefined || operator === undefined) return null;
  return {
    text: text.trim(),
    field,
    operator: operator as Operator,
    value: parseChoice(value, `--assert ${field}`, words),
  };
}

/** If `open`, accepts any field, because the service may send more than the known ones. */
export function checkAssertionFields(assertions: readonly Assertion[], open: boolean, known: readonly string[]): void {
  const wrong = open ? undefined : assertions.find(({ field }) => !known.includes(field));
  if (wrong === undefined) return;
  const nearest = suggest(wrong.field, known);
  throw new UsageError(
    `--assert: "${wrong.field}" is not a field of metrics; the fields are ${known.join(", ")}`,
    nearest === null ? {} : { hint: `did you mean ${nearest}?` },
  );
}

/** Fields that mean nothing if there are no responses, even if the service sends a number. */
const SCORES = /^nps(?:_|$)|_percent(?:_|$)/;

/** Returns `nps>=40 (nps is 15)` for each failed assertion. */
export function failedAssertions(assertions: readonly Assertion[], metrics: JsonObject): string[] {
  const where = typeof metrics["period"] === "string" ? ` in ${metrics["period"]}` : "";
  const isEmpty = metrics["response_count"] === 0;
  return assertions.flatMap(({ text, field, operator, value }) => {
    const actual = metrics[field];
    if (holds(actual, operator, value) && !(isEmpty && SCORES.test(field))) return [];
    const reason = actual === undefined ? `the service sent no ${field}` : `${field} is ${shown(actual)}`;
    return [`${text}${where} (${isEmpty ? "no responses" : reason})`];
  });
}

function holds(actual: Json | undefined, operator: Operator, value: number | string): boolean {
  if (typeof value === "number") {
    // Some services send numbers as strings.
    const number = typeof actual === "string" && /^[+-]?\d+(?:\.\d+)?$/.test(actual) ? Number(actual) : actual;
    return typeof number === "number" && OPERATORS[operator](number, value);
  }
  return typeof actual === "string" && (operator === "!=" ? actual !== value : actual === value);
}

function shown(actual: Json): string {
  if (actual === null) return "unknown: one side has no responses";
  if (typeof actual === "number") return String(Number(actual.toFixed(4)));
  return typeof actual === "string" ? actual : JSON.stringify(actual);
}
