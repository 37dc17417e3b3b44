import { SCORE_MAX } from "../../../contract/limits.ts";
import type { Deps } from "../../kit/deps.ts";
import type { TimeFilter } from "../../kit/time-flags.ts";
import { writeList } from "../../render/list-output.ts";
import { checkColumns } from "../../render/record-output.ts";
import { SCORES } from "./metrics-resource.ts";
import { wantsPictures } from "./pictures.ts";
import { readResponses, type ResponseChoice, scoreOf } from "../shared/read-responses.ts";

export async function showHistogram(
  deps: Deps,
  range: TimeFilter,
  trend: string | null,
  choice: ResponseChoice | null,
): Promise<void> {
  checkColumns(deps, SCORES);
  const counts = Array.from({ length: SCORE_MAX + 1 }, () => 0);
  await readResponses(deps, {
    range,
    trend,
    choice,
    toBatch: (rows) => rows.flatMap((row) => scoreOf(row) ?? []),
    take(scores) {
      for (const score of scores) counts[score] = (counts[score] ?? 0) + 1;
    },
  });
  if (wantsPictures(deps)) {
    const { drawHistogram } = await import("./plots.ts");
    const plot = drawHistogram(deps, counts);
    if (plot !== "") return deps.streams.out.write(plot);
  }
  const all = counts.reduce((sum, count) => sum + count, 0);
  const rows = counts.map((n, score) => ({ score, n, share: all === 0 ? 0 : n / all }));
  await writeList(deps, { resource: SCORES }, rows);
}
