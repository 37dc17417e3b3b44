/** Machine faults: kills, power cuts, and a disk that fills up or fails. Killed machines are started again. */
import type { DatabaseServer, StatementFault } from "../database/server.ts";
import type { Chance } from "./chance.ts";
import { LEAD_MAX_SECONDS } from "../../../src/service/domain/write-time.ts";
import { poll } from "../checks/recount.ts";
import { insist, pass, setName } from "./administrators.ts";
import { BURST_MS, burst } from "./life.ts";
import type { World } from "./world.ts";
import { readLead, takeClockBack } from "../../../src/service/domain/write-time.ts";

/** About as many as a few requests run. */
const STATEMENTS_MAX = 60;
const COMMITS_MAX = 8;
const HOUR_MS = 3_600_000;
/** For a clock that is corrected, and for one set by mistake. */
const WRONG_MS = [LEAD_MAX_SECONDS * 1000, LEAD_MAX_SECONDS * 1000, 30 * 60_000] as const;
const YEARS_MS = 10 * 365 * 24 * HOUR_MS;
const FULL_ROOM = 1024 ** 4;

/** Starts the machine, and again after each death, until it stays up. */
export function superviseMachine(world: World): void {
  const { machine, trace } = world;
  const chance = world.chance.branch("supervisor");
  const start = async (): Promise<void> => {
    if (!machine.isUp() && (await machine.start())) trace.count("starts");
  };
  world.onDeath = () => world.later(chance.whole(1, 60) * 1000, start);
  world.begin(start);
}

export function planFaults(world: World): void {
  const { options, clock } = world;
  const chance = world.chance.branch("faults");
  const plan = (share: number, most: number, work: () => Promise<void>): void => {
    if (!chance.happens(share)) return;
    for (let left = chance.whole(1, most); left > 0; left -= 1)
      world.later(chance.whole(HOUR_MS, options.calmMs - clock.now()), work);
  };
  const has = (kind: (typeof options.faults)[number]): boolean => options.faults.includes(kind);
  if (has("kill")) {
    plan(0.7, 4, () => kill(world, false));
    plan(0.7, 4, () => killSoon(world, chance, false));
    plan(0.3, 2, () => stop(world));
  }
  if (has("power")) {
    plan(0.4, 3, () => kill(world, true));
    plan(0.5, 3, () => killSoon(world, chance, true));
  }
  if (has("clock")) {
    plan(0.3, 3, () => setClockWrong(world, chance));
    plan(0.2, 1, () => writeYearsAhead(world, chance));
  }
  const { server } = world;
  if (server !== null) {
    if (!has("database")) return;
    plan(0.7, 5, async () => cutAtStatement(world, server, chance));
    plan(0.3, 2, () => cutOff(world, server, chance));
  } else if (has("disk")) {
    plan(0.3, 2, () => fill(world, chance));
    plan(0.3, 2, () => failWrites(world, chance));
    plan(0.2, 1, () => failSync(world));
  }
}

async function kill({ machine }: World, losesPower: boolean): Promise<void> {
  await machine.kill(losesPower);
}

async function killSoon({ machine, server }: World, chance: Chance, losesPower: boolean): Promise<void> {
  if (server === null) machine.killAtWrite(chance.whole(0, 60), losesPower);
  else machine.killAtStatement(chooseStatement(chance), losesPower);
}

function chooseStatement(chance: Chance): Omit<StatementFault, "kills"> {
  const which = chance.pick(["all", "COMMIT"] as const);
  const statements = chance.whole(1, which === "all" ? STATEMENTS_MAX : COMMITS_MAX);
  return { which, statements, loses: chance.pick(["statement", "answer"] as const) };
}

/** Breaks the connection at a random statement. */
function cutAtStatement({ trace }: World, server: DatabaseServer, chance: Chance): void {
  server.plan({ ...chooseStatement(chance), kills: false });
  trace.count("cut connections");
}

/** Makes the server unreachable for a while. */
async function cutOff(world: World, server: DatabaseServer, chance: Chance): Promise<void> {
  server.isOutOfReach = true;
  server.cutAll();
  world.trace.add("the database is out of reach");
  world.trace.count("outages of the database");
  await pass(world, chance.whole(1, 10 * 60) * 60_000);
  server.isOutOfReach = false;
  world.trace.add("the database is back");
}

async function stop({ machine, trace }: World): Promise<void> {
  trace.add("SIGTERM");
  trace.count("stops");
  await machine.stop();
}

/** Sets the clock wrong and corrects it after a while. */
async function setClockWrong(world: World, chance: Chance): Promise<void> {
  const most = chance.pick(WRONG_MS);
  const ms = chance.whole(-most, most);
  const deeds = chance.branch(`wrong by ${ms}`);
  burst(world, deeds);
  await pass(world, BURST_MS);
  for (const project of world.projects) if (project.key !== "") await poll(world, project);
  const { clocks } = world.ledger;
  clocks.wrongMs = Math.max(clocks.wrongMs, Math.abs(ms));
  world.clock.setWrong(ms);
  burst(world, deeds);
  world.trace.add(`the clock is wrong by ${ms} ms`);
  world.trace.count("wrong clocks");
  await pass(world, chance.whole(1, 30) * HOUR_MS);
  world.clock.setWrong(0);
  world.trace.add("the clock is right");
}

/** Runs one command with a clock years ahead. Some administrators notice this in the log. */
async function writeYearsAhead(world: World, chance: Chance): Promise<void> {
  const [project] = world.projects;
  if (project === undefined || world.server?.isOutOfReach === true) return;
  world.ledger.clocks.wereYearsAhead = true;
  world.clock.setWrong(YEARS_MS);
  await setName(world, project, "Years Ahead");
  world.clock.setWrong(0);
  world.trace.add("a command was run with the clock years ahead");
  world.trace.count("writes years ahead");
  if (!chance.happens(0.5)) return;
  await pass(world, chance.whole(1, 48) * HOUR_MS);
  await insist(world, async ({ store }) => {
    if ((await store.read(readLead)) > 0) await store.write(takeClockBack, { project: "all", isLong: true });
  });
  world.trace.add("the newest write is taken back");
}

async function fill(world: World, chance: Chance): Promise<void> {
  const { disk, trace } = world;
  disk.faults.room = disk.used() + chance.whole(0, 40_000);
  trace.add("the disk is nearly full");
  trace.count("full disks");
  await pass(world, chance.whole(1, 10) * HOUR_MS);
  disk.faults.room = FULL_ROOM;
  trace.add("the disk has room");
}

async function failWrites({ disk, trace }: World, chance: Chance): Promise<void> {
  disk.faults.failingWrites = chance.whole(1, 3);
  trace.add("writes will fail");
  trace.count("failed writes");
}

async function failSync({ disk, trace }: World): Promise<void> {
  disk.faults.failingSyncs = 1;
  trace.add("a sync will fail");
  trace.count("failed syncs");
}
