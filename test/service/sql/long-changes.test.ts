import { expect, test } from "vitest";
import { systemClock } from "../../../src/runtime/clock.ts";
import { addMember } from "../../../src/service/domain/surveys/autopilot/autopilot.ts";
import { configureAutopilot } from "../../../src/service/domain/surveys/autopilot/autopilot-settings.ts";
import { addProject } from "../../../src/service/domain/projects/projects.ts";
import { IN_MEMORY } from "../../../src/service/store/sqlite/engine/engine.ts";
import { openSqliteStore } from "../../../src/service/store/sqlite/open-sqlite-store.ts";
import { memberInput } from "../domain/fixture.ts";

/** Counts the transactions that move `members`; the clock advances by `stepMs` per reading. */
async function countTransactions(members: number, stepMs: number): Promise<number> {
  const state = { ms: 0, commits: 0 };
  const monotonic = (): number => (state.ms += stepMs);
  const clock = { ...systemClock, monotonic };
  const store = await openSqliteStore({ file: IN_MEMORY, clock, onCommit: () => void (state.commits += 1) });
  const project = await store.write((tx) => addProject(tx, "default"), { project: "all" });
  await store.write(
    async (tx) => {
      for (let n = 0; n < members; n += 1) await addMember(tx, project, memberInput({ personEmail: `p${n}@x.co` }));
    },
    { project: project.id },
  );
  state.commits = 0;
  await store.write((tx) => configureAutopilot(tx, project, "email", { frequency: 30 * 86_400 }), {
    project: project.id,
  });
  await store.settle();
  const { commits } = state;
  await store.close();
  return commits;
}

test("a long change takes a thousand rows at a time, or as many as take 20 ms", async () => {
  expect(await countTransactions(1010, 0)).toBe(2);
  expect(await countTransactions(110, 30)).toBe(3);
});
