/** Runs one world from start to end. */
import { checkEnd } from "../checks/liveness.ts";
import { recount } from "../checks/recount.ts";
import { DatabaseServer } from "../database/server.ts";
import { heal, pass, setUp } from "../world/administrators.ts";
import { planFaults, superviseMachine } from "../world/faults.ts";
import { planLife } from "../world/life.ts";
import type { RunOptions } from "../world/options.ts";
import { settlePeople } from "../world/people.ts";
import { createWorld, type World } from "../world/world.ts";

export interface SeedResult {
  readonly seed: number;
  readonly hash: string;
  /** Null for a successful run. */
  readonly violation: string | null;
  readonly last: readonly string[];
  readonly counts: Readonly<Record<string, number>>;
}

const RECOUNT_MS = 24 * 3_600_000;
const END_MS = 60_000;

export async function runSeed(run: RunOptions, tell: ((line: string) => void) | null = null): Promise<SeedResult> {
  const server = run.database === null ? null : await DatabaseServer.open(run.database);
  const world = createWorld(run, server, tell);
  if (server !== null) server.onKill = world.machine.die;
  const { clock, ledger, trace, options } = world;
  settlePeople(world);
  superviseMachine(world);
  const state = { isOver: false };
  world.begin(async () => {
    await setUp(world);
    planLife(world);
    planFaults(world);
    await recountNowAndThen(world);
  });
  clock.at(options.calmMs, () => world.begin(() => heal(world)));
  clock.at(options.endMs - END_MS, () =>
    world.begin(async () => {
      await checkEnd(world);
      state.isOver = true;
    }),
  );
  await clock.settle();
  while (!state.isOver && ledger.violation() === null && (await clock.step(options.endMs)));
  if (!state.isOver) ledger.violate("the last look never ended");
  await world.machine.kill(false);
  await server?.close();
  const { seed } = run;
  return { seed, hash: trace.hash(), violation: ledger.violation(), last: trace.last(), counts: trace.counts() };
}

/** Recounts after each day on which something happened. */
async function recountNowAndThen(world: World): Promise<void> {
  for (let counted = 0; world.clock.now() < world.options.endMs;) {
    await pass(world, RECOUNT_MS);
    const happened = world.trace.length();
    if (happened > counted && world.ledger.violation() === null && (await recount(world))) counted = happened;
  }
}
