import { stripVTControlCharacters } from "node:util";
import { expect, it } from "vitest";
import { createProgress } from "../../../src/cli/kit/progress.ts";
import { fakeDeps } from "../../helpers/fake-deps.ts";

const CLEARED = "\u001b[1G\u001b[0K";

it("when the work ends while the live line is still being opened, then one line was shown and is taken away", async () => {
  const { deps, err } = fakeDeps({ width: 80 });
  let now = 0;
  const progress = createProgress({ ...deps, clock: { ...deps.clock, monotonic: () => (now += 1000) } }, "rows");
  // Imports don't await progress updates, so the second comes before the first is drawn.
  const updates = [progress.update(1), progress.update(2)];
  await progress.end();
  await Promise.all(updates);
  expect([stripVTControlCharacters(err()), err().endsWith(CLEARED)]).toEqual(["⠋ 1 rows, 1/s", true]);
});

it("when an import goes on, then the end is foretold from its own rows, and not by the first of them", async () => {
  const { deps, err } = fakeDeps({});
  let now = 0;
  const progress = createProgress({ ...deps, clock: { ...deps.clock, monotonic: () => now } }, "rows");
  progress.expect(5_000);
  for (now of [10_000, 20_000]) await progress.update(1_000 + now / 10, 1_000);
  expect(err()).toBe("2,000 of 5,000 rows, 100/s, 30s left\n3,000 of 5,000 rows, 100/s, 20s left\n");
  const live = fakeDeps({ width: 80 });
  now = 0;
  const first = createProgress({ ...live.deps, clock: { ...live.deps.clock, monotonic: () => now } }, "rows");
  first.expect(5_000);
  now = 1_000;
  await first.update(1_001, 1_000);
  await first.end();
  expect(stripVTControlCharacters(live.err())).toBe("⠋ 1,001 of 5,000 rows, 1/s");
});

it("when two seconds of a known number have passed on a terminal, then there is a bar and the time that is left", async () => {
  const { deps, err } = fakeDeps({ width: 80 });
  let now = 0;
  const progress = createProgress({ ...deps, clock: { ...deps.clock, monotonic: () => now } }, "rows");
  progress.expect(400);
  now = 2_000;
  await progress.update(100);
  await progress.end();
  const bar = `${"█".repeat(5)}${"░".repeat(15)}`;
  expect(stripVTControlCharacters(err())).toBe(`⠋ ${bar} 100 of 400 rows, 50/s, 6s left`);
});
