/** Administrators: they set the service up, pause and resume it, change settings, erase people, back up, and heal. */
import type { AdminKind, AdminResults, CommandOf } from "../../../src/service/admin/commands.ts";
import type { DatabaseServer } from "../database/server.ts";
import type { End } from "../checks/possible.ts";
import { beginErasure } from "./client.ts";
import { endpointUrl, WEBHOOK_SECRET } from "./endpoints.ts";
import type { Person, Project, World } from "./world.ts";

const RETRY_MS = 30_000;

/** Until it is done: the machine may be down, and its disk full. Null when the service says no. */
export async function insist<Kind extends AdminKind>(
  world: World,
  command: CommandOf<Kind>,
): Promise<AdminResults[Kind] | null> {
  for (;;) {
    const answer = await world.machine.admin(command);
    if (answer.kind === "done") return answer.result;
    if (answer.kind === "refused" && answer.error.name === "AdminError") return null;
    await pass(world, RETRY_MS);
  }
}

export function pass({ clock }: World, ms: number): Promise<void> {
  return new Promise((resolve) => clock.at(clock.now() + ms, resolve));
}

/** Everything that the world's people need: projects, keys, hooks, webhooks. */
export async function setUp(world: World): Promise<void> {
  const { projects, options, hooks } = world;
  const bounces = await insist(world, { kind: "bounce.hook", rotate: false, keys: {} });
  hooks.bounces = /\/hooks\/bounce\/([\w-]+)/.exec(JSON.stringify(bounces))?.[1] ?? null;
  const texts = await insist(world, { kind: "sms.hook", rotate: false, keys: {} });
  hooks.texts = /\/hooks\/sms\/([\w-]+)/.exec(JSON.stringify(texts))?.[1] ?? null;
  for (const project of projects) {
    await addProject(world, project);
    await insist(world, { kind: "throttle", project: project.name, seconds: options.throttleSeconds });
    await setPace(world, project);
    await addWebhook(world, project);
  }
  world.trace.add("set up");
}

/** When surveys and reminders leave. */
async function setPace(world: World, { name: project }: Project): Promise<void> {
  const { zone, dailyLimit, reminderSeconds, window, autopilotSeconds, first } = world.options;
  await insist(world, { kind: "settings", project, change: { tz: zone, daily_limit: String(dailyLimit ?? "") } });
  await insist(world, { kind: "reminder", project, after: reminderSeconds });
  const { days, hours } = window;
  const change = {
    active: true,
    first,
    days,
    hours,
    ...(autopilotSeconds !== null && { frequency: autopilotSeconds }),
  };
  for (const platform of ["email", "sms"] as const)
    await insist(world, { kind: "autopilot", project, platform, change });
}

async function addProject(world: World, project: Project): Promise<void> {
  if (project.key !== "") return;
  const added = await insist(world, { kind: "project.add", name: project.name });
  // It was added, and the answer was lost with the process.
  const key = added?.key ?? (await insist(world, { kind: "key.add", project: project.name }))?.key;
  project.key = key ?? "";
}

async function addWebhook(world: World, { name }: Project): Promise<void> {
  const known = await insist(world, { kind: "webhook.list", project: name });
  if (known === null || known.length > 0) return;
  await insist(world, {
    kind: "webhook.add",
    project: name,
    url: endpointUrl(name),
    secret: WEBHOOK_SECRET,
    allowPrivate: true,
    insecureHttp: false,
    format: "json",
  });
  // An answer that was lost may have left one behind.
  const [, ...more] = (await insist(world, { kind: "webhook.list", project: name })) ?? [];
  for (const { id } of more) await insist(world, { kind: "webhook.remove", project: name, id });
}

async function attempt<Kind extends AdminKind>(
  { machine, trace }: World,
  command: CommandOf<Kind>,
  ends: readonly End[],
): Promise<void> {
  const answer = await machine.admin(command);
  const isRefused =
    answer.kind === "refused" ? answer.error.name === "AdminError" : !("isTaken" in answer && answer.isTaken);
  for (const end of ends) end(answer.kind === "done" ? "acknowledged" : isRefused ? "refused" : "unknown");
  trace.add(`administrator: ${JSON.stringify(command)}: ${answer.kind}`);
  if (answer.kind === "done") trace.count("commands");
}

export function pause(world: World, project: Project | null, paused: boolean): Promise<void> {
  const end = world.ledger.pauses.begin(project?.name ?? "*", paused ? "paused" : "running");
  const which = project === null ? {} : { project: project.name };
  return attempt(world, { kind: "pause", ...which, paused }, [end]);
}

export function erase(world: World, person: Person): Promise<void> {
  const end = beginErasure(world, person);
  world.trace.count("erased");
  const { project, email } = person;
  const choice = { dryRun: false, properties: false, forgetUnsubscribe: false };
  return attempt(world, { kind: "erase", project: project.name, email, phoneNumber: null, ...choice }, [end]);
}

export function setName(world: World, { name }: Project, senderName: string): Promise<void> {
  return attempt(world, { kind: "settings", project: name, change: { sender_name: senderName } }, []);
}

export function backUp(world: World): Promise<void> {
  return attempt(world, { kind: "backup", file: `/simulated/data/copy-${world.ledger.turn()}.db` }, []);
}

export function tidy(world: World): Promise<void> {
  return attempt(world, { kind: "vacuum" }, []);
}

function healServer(server: DatabaseServer): void {
  server.plan(null);
  server.isOutOfReach = false;
}

/** When faults have ended, an administrator sees to it that everything goes on. */
export async function heal(world: World): Promise<void> {
  const { projects, ledger, disk, server, machine } = world;
  Object.assign(disk.faults, { room: 1024 ** 4, failingWrites: 0, failingSyncs: 0, writesUntilKill: -1 });
  if (server !== null) healServer(server);
  while (!machine.isUp()) await pass(world, RETRY_MS);
  for (const project of [null, ...projects]) {
    const end = ledger.pauses.begin(project?.name ?? "*", "running");
    await insist(world, { kind: "pause", ...(project === null ? {} : { project: project.name }), paused: false });
    end("acknowledged");
  }
  await enableWebhooks(world);
  await insist(world, { kind: "delivery.resume" });
  world.trace.add("healed");
}

/** An endpoint that says that it is gone, or fails for days, gets nothing until somebody says that it is there. */
export async function enableWebhooks(world: World): Promise<void> {
  for (const { name } of world.projects)
    for (const { id } of (await insist(world, { kind: "webhook.list", project: name })) ?? [])
      await insist(world, { kind: "webhook.enable", project: name, id });
}
