/** `metrics --histogram`: how often each score was given, which the API's three counts cannot tell. */
import { SCORE_MAX } from "../../../contract/limits.ts";
import type { Deps } from "../../command/deps.ts";
import type { TimeFilter } from "../../command/time-flags.ts";
import { EXIT, type ExitCode } from "../../exit-codes.ts";
import { openListOutput } from "../../render/list-output.ts";
import { checkColumns } from "../../render/record-output.ts";
import type { ResponseChoice } from "./count-metrics.ts";
import { SCORES } from "./metrics-resource.ts";
import { wantsPictures } from "./pictures.ts";
import { readResponses, scoreOf } from "./read-responses.ts";

export interface HistogramOptions extends TimeFilter {
  readonly trend: string | null;
  readonly choice: ResponseChoice | null;
}

export async function runHistogram(deps: Deps, { since, until, trend, choice }: HistogramOptions): Promise<ExitCode> {
  checkColumns(deps, SCORES);
  const counts = Array.from({ length: SCORE_MAX + 1 }, () => 0);
  await readResponses(deps, {
    range: { since, until },
    trend,
    filterPage: choice?.filterPage ?? null,
    properties: { conditions: choice?.conditions },
    toBatch: (rows) => rows.flatMap((row) => scoreOf(row) ?? []),
    take(scores) {
      for (const score of scores) counts[score] = (counts[score] ?? 0) + 1;
    },
  });
  if (wantsPictures(deps)) {
    const { drawHistogram } = await import("./plots.ts");
    const plot = drawHistogram(deps, counts);
    if (plot !== "") {
      await deps.streams.out.write(plot);
      return EXIT.done;
    }
  }
  const all = counts.reduce((sum, count) => sum + count, 0);
  const rows = counts.map((n, score) => ({ score, n, share: all === 0 ? 0 : n / all }));
  const output = await openListOutput(deps, { resource: SCORES });
  await output.write({ rows, text: JSON.stringify(rows) });
  await output.end();
  return EXIT.done;
}
