/** Simulated answers: a share of the people, within three days of their survey. */
import type { Random } from "../../runtime/random.ts";
import { answerSurvey } from "../domain/answers/answers.ts";
import type { DueQuestion, Store } from "../domain/ports.ts";

export interface Answers {
  readonly plan: (due: Pick<DueQuestion, "token">, now: number) => void;
  readonly nextAt: () => number | null;
  /** Stores the answers that are due. */
  readonly give: (now: number) => Promise<void>;
}

const WITHIN_SECONDS = 3 * 86_400;
const SCORE = 9;
const WINDOW_SECONDS = 86_400;

export function createAnswers(
  store: Store,
  { rate, chance }: { readonly rate: number; readonly chance: Pick<Random, "fraction"> },
): Answers {
  const waiting: { readonly at: number; readonly token: string }[] = [];
  return {
    plan: ({ token }, now) => {
      if (rate <= 0 || chance.fraction() >= rate) return;
      const at = now + 1 + Math.floor(chance.fraction() * WITHIN_SECONDS);
      const next = waiting.findLastIndex((one) => one.at <= at) + 1;
      waiting.splice(next, 0, { at, token });
    },
    nextAt: () => waiting[0]?.at ?? null,
    give: async (now) => {
      for (let first = waiting[0]; first !== undefined && first.at <= now; first = waiting[0]) {
        const { token } = first;
        waiting.shift();
        await store.write((tx) => answerSurvey(tx, token, { score: SCORE, by: "button" }, WINDOW_SECONDS), {
          project: "all",
        });
      }
    },
  };
}
