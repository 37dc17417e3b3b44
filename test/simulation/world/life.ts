/** Everything that happens without faults: requests by API clients and administrators. */
import { administer, backUp, enableWebhooks, erase, pass, pause, setName, tidy } from "./administrators.ts";
import type { Chance } from "./chance.ts";
import { addResponse, ask, enrol, remove, unsubscribe } from "./client.ts";
import type { Person, Project, World } from "./world.ts";

const MINUTE_MS = 60_000;
const HOUR_MS = 3_600_000;
export const BURST_MS = 5 * MINUTE_MS;
const ADMINISTERED_SHARE = 0.3;
/** Interval at which an administrator checks the webhooks. */
const ROUND_MS = 60 * HOUR_MS;

type Deed = readonly [share: number, work: () => Promise<void>];

export function planLife(world: World): void {
  const { options, clock } = world;
  const chance = world.chance.branch("life");
  for (let left = options.bursts; left > 0; left -= 1)
    world.later(chance.whole(MINUTE_MS, options.calmMs - clock.now()), async () => burst(world, chance));
  planAdministration(world);
  for (let ms = ROUND_MS; clock.now() + ms < options.calmMs; ms += ROUND_MS)
    world.later(ms, () => enableWebhooks(world));
}

/** In some worlds, someone administers over HTTP, with a separate random source so that nothing else changes. */
function planAdministration(world: World): void {
  const chance = world.chance.branch("administration");
  if (!chance.happens(ADMINISTERED_SHARE)) return;
  const { options, clock, projects } = world;
  for (let left = chance.whole(5, 20); left > 0; left -= 1)
    world.later(chance.whole(MINUTE_MS, options.calmMs - clock.now()), async () => {
      const project = chance.pick(projects);
      if (chance.happens(0.3)) {
        await administer(world, project, "pause", {});
        return world.later(chance.whole(1, 24) * HOUR_MS, () => administer(world, project, "resume", {}));
      }
      // Longer than any world lasts, so nothing expires; two concurrent calls ask for different ages.
      const keepFor = (): Promise<void> =>
        administer(world, project, "retention", { requests: `${chance.whole(1000, 9999)}d`, confirm: true });
      await Promise.all(chance.happens(0.3) ? [keepFor(), keepFor()] : [keepFor()]);
    });
}

/** Several actions within `BURST_MS`. */
export function burst(world: World, chance: Chance): void {
  for (let left = chance.whole(1, 8); left > 0; left -= 1) {
    const ms = chance.happens(0.5) ? chance.whole(0, 50) : chance.whole(0, BURST_MS);
    world.later(ms, () => doSomething(world, chance));
  }
}

async function doSomething(world: World, chance: Chance): Promise<void> {
  const project = chance.pick(world.projects);
  if (project.key === "") return;
  const person = chance.pick(project.people);
  const delay = (): number => (chance.happens(0.6) ? 0 : chance.whole(1, 3 * 86_400));
  const deeds: readonly Deed[] = [
    [60, () => ask(world, person, person.phone !== null && chance.happens(0.5) ? "sms" : "email", delay())],
    [12, () => addResponse(world, person, chance.whole(0, 10))],
    [world.options.autopilotSeconds === null ? 0 : 8, () => enrol(world, person, chance.happens(0.7))],
    [4, () => unsubscribe(world, person)],
    [3, () => remove(world, person)],
    [2, () => replace(world, person, chance)],
    [4, () => pauseForAWhile(world, chance)],
    [3, () => regret(world, project, chance)],
    [3, () => setName(world, project, `Shop ${chance.whole(1, 9)}`)],
    [2, () => erase(world, person)],
    [1, () => backUp(world)],
    [1, () => tidy(world)],
  ];
  await choose(chance, deeds)();
}

function choose(chance: Chance, deeds: readonly Deed[]): () => Promise<void> {
  let left = chance.fraction() * deeds.reduce((sum, [share]) => sum + share, 0);
  for (const [share, work] of deeds) {
    left -= share;
    if (left < 0) return work;
  }
  return async () => undefined;
}

/** Deletes a person, possibly after they unsubscribed, and surveys them again. */
async function replace(world: World, person: Person, chance: Chance): Promise<void> {
  if (chance.happens(0.5)) await unsubscribe(world, person);
  await remove(world, person);
  await ask(world, person, "email", 0);
}

/** Cancels a mailing to everyone while it is being sent. */
async function regret(world: World, project: Project, chance: Chance): Promise<void> {
  for (const person of project.people) world.later(0, () => ask(world, person, "email", 0));
  await pass(world, chance.whole(100, 3000));
  await pause(world, project, true);
  world.later(chance.whole(1, 24) * HOUR_MS, () => pause(world, project, false));
}

async function pauseForAWhile(world: World, chance: Chance): Promise<void> {
  const project = chance.happens(0.5) ? null : chance.pick(world.projects);
  await pause(world, project, true);
  world.later(chance.whole(1, 24) * HOUR_MS, () => pause(world, project, false));
}
