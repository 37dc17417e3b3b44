import { expect, it } from "vitest";
import { keepDays } from "../../../src/service/domain/shares/shares.ts";
import type { DayTally } from "../../../src/service/domain/shares/day-tally.ts";
import type { ShareRow } from "../../../src/service/domain/shares/share-rows.ts";
import type { Store } from "../../../src/service/domain/ports.ts";
import { NOW } from "../../helpers/fake-deps.ts";

const TODAY = Math.floor(NOW / 86_400);
const PAGE: ShareRow = {
  project: { id: 1, name: "default" },
  id: 7,
  name: "Board",
  trendId: null,
  segments: [],
  showsComments: true,
  tokenHash: "",
  createdAt: 0,
  expiresAt: null,
};

/** A store with these answer counts per day, oldest first and ending yesterday. `steps` are its transactions. */
function daysOf(rowCounts: readonly number[]) {
  const kept = new Map<number, DayTally>();
  const steps: number[][] = [];
  const all = rowCounts.map((rowCount, at) => ({ day: TODAY - rowCounts.length + at, rowCount }));
  const shares = {
    days: async (_: ShareRow, { first, last }: { first: number | null; last: number }) =>
      all
        .filter(({ day }) => day >= (first ?? 0) && day <= last)
        .map(({ day, rowCount }) => ({ day, rowCount, tally: kept.get(day) ?? null })),
    answers: async () => [],
    keepDay: async (_: ShareRow, day: number, tally: DayTally) => {
      kept.set(day, tally);
      steps.at(-1)?.push(day - TODAY);
    },
  };
  const run = async <T>(work: (tx: unknown) => Promise<T>): Promise<T> => work({ shares });
  const write: typeof run = async (work) => {
    steps.push([]);
    return run(work);
  };
  return { store: { read: run, write } as unknown as Store, steps };
}

it("when many answers are not counted, then each step counts days of at most 10,000, or one day", async () => {
  const { store, steps } = daysOf([9_000, 1_000, 1, 200_000, 5_000, 5_000, 5_000]);
  await keepDays(store, PAGE, { first: null, last: TODAY - 1 });
  expect(steps).toEqual([[-7, -6], [-5], [-4], [-3, -2], [-1]]);
});
