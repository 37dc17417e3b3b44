import { createContext, Script } from "node:vm";
import { createTextSearch, type TextSearch } from "../../../insight/search.ts";
import { UsageError } from "../../errors/usage-error.ts";

/** Limits catastrophic backtracking, which could take years. */
const SEARCH_MS_MAX = 2000;
/** Long enough that most patterns with nested quantifiers time out on the probe, before any request is sent. */
const PROBE_REPEATS = 60;
const PROBE_MS_MAX = 500;

export function parseSearch(pattern: string, place: string): TextSearch {
  if (pattern.trim() === "") throw new UsageError(`${place}: must not be empty`);
  const search = orUsageError(pattern, place);
  const box = createContext({ work: null });
  const script = new Script("work()");
  const withTimeout = <Result>(work: () => Result, timeout = SEARCH_MS_MAX): Result => {
    box["work"] = work;
    try {
      return script.runInContext(box, { timeout }) as Result;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "ERR_SCRIPT_EXECUTION_TIMEOUT") throw error;
      throw new UsageError(`${place}: ${JSON.stringify(pattern)} takes too long to match`, {
        hint: "write it without a repeat inside a repeat, such as (a+)+",
      });
    }
  };
  const letters = new Set(`${pattern.replace(/\\./gu, "")}a1 `);
  withTimeout(
    () => [...letters].map((letter) => search.matches(`${letter.repeat(PROBE_REPEATS)}\u0001`)),
    PROBE_MS_MAX,
  );
  return {
    matches: (text) => withTimeout(() => search.matches(text)),
    matchEach: (texts) => withTimeout(() => search.matchEach(texts)),
    spans: (text) => withTimeout(() => search.spans(text)),
  };
}

function orUsageError(pattern: string, place: string): TextSearch {
  try {
    return createTextSearch(pattern);
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    const why = /\/[a-z]*: (.*)$/su.exec(error.message)?.[1];
    const reason = why === undefined ? "" : ` (${why.toLowerCase()})`;
    throw new UsageError(`${place}: ${JSON.stringify(pattern)} is not a regular expression${reason}`, {
      hint: String.raw`put \ before a character that is meant as it is, as in \( or \?`,
      cause: error,
    });
  }
}
