/** `--assert 'nps>=40'`: what cron checks (exit status 6). */
import type { JsonObject } from "../../../contract/json.ts";
import { RESOURCES } from "../../../contract/resources.ts";
import { suggest } from "../../args/suggest.ts";
import { UsageError } from "../../errors/usage-error.ts";

const COMPARISONS = {
  ">=": (a: number, b: number) => a >= b,
  "<=": (a: number, b: number) => a <= b,
  "==": (a: number, b: number) => a === b,
  "!=": (a: number, b: number) => a !== b,
  ">": (a: number, b: number) => a > b,
  "<": (a: number, b: number) => a < b,
  "=": (a: number, b: number) => a === b,
} as const;

type Operator = keyof typeof COMPARISONS;

export interface Assertion {
  readonly text: string;
  readonly field: string;
  readonly operator: Operator;
  readonly value: number;
}

/** Reads `nps>=40`, `response_count > 0`; throws UsageError. */
export function parseAssertion(text: string): Assertion {
  const [, field, operator, value] =
    /^\s*([a-z][a-z0-9_]*)\s*(>=|<=|==|!=|>|<|=)\s*([+-]?\d+(?:\.\d+)?)\s*$/.exec(text) ?? [];
  if (field === undefined || operator === undefined || value === undefined) {
    throw new UsageError(
      `--assert: "${text}" is not an assertion; write a field, one of >= > <= < = !=, and a number, as in 'nps>=40'`,
    );
  }
  return { text: text.trim(), field, operator: operator as Operator, value: Number(value) };
}

/** Only what the core group is known to send can be checked before the request; other groups decide on their own fields. */
export function checkAssertionFields(assertions: readonly Assertion[], open: boolean, extra: readonly string[]): void {
  const known = [...RESOURCES.metrics.map(({ name }) => name), ...extra];
  const wrong = open ? undefined : assertions.find(({ field }) => !known.includes(field));
  if (wrong === undefined) return;
  const nearest = suggest(wrong.field, known);
  throw new UsageError(
    `--assert: "${wrong.field}" is not a field of metrics; the fields are ${known.join(", ")}`,
    nearest === null ? {} : { hint: `did you mean ${nearest}?` },
  );
}

/** Fields without a value when there are no responses, also where the service sends a number. */
const SCORES = /^nps(?:_|$)|_percent(?:_|$)/;

/** `nps>=40 (nps is 15)` for each assertion that does not hold; a field that is missing holds nothing. */
export function failedAssertions(assertions: readonly Assertion[], metrics: JsonObject): string[] {
  const where = typeof metrics["period"] === "string" ? ` in ${metrics["period"]}` : "";
  const isEmpty = metrics["response_count"] === 0;
  return assertions.flatMap(({ text, field, operator, value }) => {
    const actual = metrics[field];
    const holds = typeof actual === "number" && COMPARISONS[operator](actual, value);
    if (holds && !(isEmpty && SCORES.test(field))) return [];
    const reason = typeof actual === "number" ? `${field} is ${actual}` : `the service sent no ${field}`;
    return [`${text}${where} (${isEmpty ? "no responses" : reason})`];
  });
}
