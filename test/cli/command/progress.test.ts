import { stripVTControlCharacters } from "node:util";
import { expect, it } from "vitest";
import { createProgress } from "../../../src/cli/command/progress.ts";
import { fakeDeps } from "../../helpers/fake-deps.ts";

const CLEARED = "\u001b[1G\u001b[0K";

it("when the work ends while the live line is still being opened, then one line was shown and is taken away", async () => {
  const { deps, err } = fakeDeps({ width: 80 });
  let now = 0;
  const progress = createProgress({ ...deps, clock: { ...deps.clock, monotonic: () => (now += 1000) } }, "rows", false);
  // Nobody waits for an import's progress; the second comes before the first has its line.
  const updates = [progress.update(1), progress.update(2)];
  await progress.end();
  await Promise.all(updates);
  expect([stripVTControlCharacters(err()), err().endsWith(CLEARED)]).toEqual(["⠋ 1 rows, 1/s", true]);
});
