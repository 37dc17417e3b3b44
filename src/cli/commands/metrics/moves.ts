/** `metrics --moves`: how many people moved between promoter, passive and detractor with their last answer. */
import { personIdOf } from "../../../client/write/look-up.ts";
import { type ScoreCategory, scoreCategory } from "../../../contract/limits.ts";
import { countOf } from "../../../contract/text/whole-number.ts";
import { timeOf } from "../../export/sources.ts";
import type { Deps } from "../../kit/deps.ts";
import { writeNote } from "../../kit/notes.ts";
import type { TimeFilter } from "../../kit/time-flags.ts";
import { writeList } from "../../render/list-output.ts";
import { checkColumns } from "../../render/record-output.ts";
import { readResponses, scoreOf } from "../shared/read-responses.ts";
import { MOVES } from "./metrics-resource.ts";

const CATEGORIES: readonly ScoreCategory[] = ["promoter", "passive", "detractor"];

interface LastAnswers {
  readonly at: number;
  readonly now: ScoreCategory;
  readonly was: ScoreCategory | null;
}

/** Counts a person whose last answer is in the range; the answer before it can be older. */
export async function showMoves(deps: Deps, { since, until }: TimeFilter): Promise<void> {
  checkColumns(deps, MOVES);
  const people = new Map<string, LastAnswers>();
  await readResponses(deps, {
    range: { since: null, until },
    trend: null,
    toBatch: (rows) =>
      rows.flatMap((row) => {
        const [person, score, at] = [personIdOf(row), scoreOf(row), timeOf(row, "created_at")];
        return person === "" || score === null || at === null ? [] : [{ person, at, now: scoreCategory(score) }];
      }),
    take(answers) {
      for (const { person, at, now } of answers) people.set(person, { at, now, was: people.get(person)?.now ?? null });
    },
  });
  const recent = [...people.values()].filter(({ at }) => since === null || at >= since);
  const rows = CATEGORIES.flatMap((was) =>
    CATEGORIES.map((now) => ({ was, now, people: recent.filter((one) => one.was === was && one.now === now).length })),
  );
  await writeList(deps, { resource: MOVES }, rows);
  const first = recent.filter(({ was }) => was === null).length;
  if (first > 0) await writeNote(deps, `${countOf(first, "person answered", "people answered")} for the first time`);
}
