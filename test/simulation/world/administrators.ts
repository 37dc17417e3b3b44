/** Administrators set up the service, pause and resume it, change settings, erase people and make backups. */
import { DomainError } from "../../../src/service/domain/errors.ts";
import type { TestService } from "../../helpers/test-service.ts";
import type { DatabaseServer } from "../database/server.ts";
import type { End } from "../checks/possible.ts";
import { beginDeed } from "../checks/log.ts";
import { settle } from "./calls.ts";
import { beginErasure } from "./client.ts";
import { endpointUrl, WEBHOOK_SECRET } from "./endpoints.ts";
import type { Person, Project, World } from "./world.ts";

const RETRY_MS = 30_000;

/** Retries until it is done, because the machine may be down or its disk full. Null if the service refuses. */
export async function insist<Result>(
  world: World,
  work: (service: TestService) => Promise<Result>,
): Promise<Result | null> {
  for (;;) {
    const answer = await world.machine.command(work);
    if (answer.kind === "done") return answer.result;
    if (answer.kind === "refused" && answer.error instanceof DomainError) return null;
    await pass(world, RETRY_MS);
  }
}

export function pass({ clock }: World, ms: number): Promise<void> {
  return new Promise((resolve) => clock.at(clock.now() + ms, resolve));
}

/** Creates projects, keys, hooks and webhooks. */
export async function setUp(world: World): Promise<void> {
  const { projects, options, hooks } = world;
  const bounces = await insist(world, ({ admin }) => admin({ kind: "bounce.hook", rotate: false, keys: {} }));
  hooks.bounces = /\/hooks\/bounce\/([\w-]+)/.exec(JSON.stringify(bounces))?.[1] ?? null;
  const texts = await insist(world, ({ admin }) => admin({ kind: "sms.hook", rotate: false, keys: {} }));
  hooks.texts = /\/hooks\/sms\/([\w-]+)/.exec(JSON.stringify(texts))?.[1] ?? null;
  for (const project of projects) {
    await addProject(world, project);
    await insist(world, ({ admin }) =>
      admin({ kind: "throttle", project: project.name, interval: options.throttleSeconds }),
    );
    await setPace(world, project);
    await addWebhook(world, project);
  }
  world.trace.add("set up");
}

/** Configures when surveys and reminders are sent. */
async function setPace(world: World, { name: project }: Project): Promise<void> {
  const { zone, dailyLimit, reminderSeconds, window, autopilotSeconds, first } = world.options;
  await insist(world, ({ admin }) =>
    admin({ kind: "settings", project, tz: zone, daily_limit: String(dailyLimit ?? "") }),
  );
  await insist(world, ({ admin }) => admin({ kind: "reminder", project, after: reminderSeconds ?? "off" }));
  const { days, hours } = window;
  const change = {
    active: true,
    first,
    days,
    hours,
    ...(autopilotSeconds !== null && { frequency: autopilotSeconds }),
  };
  for (const platform of ["email", "sms"] as const)
    await insist(world, ({ admin }) => admin({ kind: "autopilot", project, platform, ...change }));
}

async function addProject(world: World, project: Project): Promise<void> {
  if (project.key !== "") return;
  const added = await insist(world, ({ admin }) => admin({ kind: "project.add", name: project.name }));
  // The key was created, but the reply was lost.
  const key =
    added?.key ?? (await insist(world, ({ admin }) => admin({ kind: "key.add", project: project.name })))?.key;
  project.key = key ?? "";
}

async function addWebhook(world: World, { name }: Project): Promise<void> {
  const known = await insist(world, ({ admin }) => admin({ kind: "webhook.list", project: name }));
  if (known === null || known.length > 0) return;
  const webhook = { url: endpointUrl(name), secret: WEBHOOK_SECRET, allow_private: true };
  await insist(world, ({ admin }) => admin({ kind: "webhook.add", project: name, ...webhook }));
  // A lost reply may have left one behind.
  const [, ...more] = (await insist(world, ({ admin }) => admin({ kind: "webhook.list", project: name }))) ?? [];
  for (const { id } of more)
    await insist(world, ({ admin }) => admin({ kind: "webhook.remove", confirm: true, project: name, id }));
}

async function attempt(
  { machine, trace }: World,
  command: string,
  work: (service: TestService) => Promise<unknown>,
  ends: readonly End[] = [],
): Promise<void> {
  const answer = await machine.command(work);
  const isRefused =
    answer.kind === "refused" ? answer.error instanceof DomainError : !("isTaken" in answer && answer.isTaken);
  for (const end of ends) end(answer.kind === "done" ? "acknowledged" : isRefused ? "refused" : "unknown");
  trace.add(`administrator: ${command}: ${answer.kind}`);
  if (answer.kind === "done") trace.count("commands");
}

export function pause(world: World, project: Project | null, paused: boolean): Promise<void> {
  const end = world.ledger.pauses.begin(project?.name ?? "*", paused ? "paused" : "running");
  const call = { kind: paused ? "pause" : "resume", project: project?.name ?? null } as const;
  const line = beginDeed(world, project === null ? world.projects : [project], call.kind);
  return attempt(world, JSON.stringify(call), ({ admin }) => admin(call), [end, line]);
}

export function erase(world: World, person: Person): Promise<void> {
  const end = beginErasure(world, person);
  world.trace.count("erased");
  const { project, email } = person;
  const choice = { dry_run: false, properties: false, forget_unsubscribe: false };
  const call = { kind: "erase", confirm: true, project: project.name, email, ...choice } as const;
  return attempt(world, JSON.stringify(call), ({ admin }) => admin(call), [end, beginDeed(world, [project], "erase")]);
}

/** Runs an operation over HTTP with an admin key. */
export async function administer(world: World, project: Project, operation: string, input: object): Promise<void> {
  const key = (project.adminKey ??=
    (await insist(world, ({ admin }) => admin({ kind: "key.add", project: project.name, admin: true })))?.key ?? null);
  const ends = [beginDeed(world, [project], operation)];
  if (operation === "pause" || operation === "resume")
    ends.push(world.ledger.pauses.begin(project.name, operation === "pause" ? "paused" : "running"));
  const answer = await world.calls.api(key ?? "", "POST", `/operations/${operation}`, { ...input });
  if (settle(ends, answer)) world.trace.count("operations over HTTP");
  world.trace.add(`elsewhere: ${operation} ${JSON.stringify(input)}: ${answer.status}`);
}

export function setName(world: World, { name }: Project, senderName: string): Promise<void> {
  const call = { kind: "settings", project: name, sender_name: senderName } as const;
  return attempt(world, JSON.stringify(call), ({ admin }) => admin(call));
}

export function backUp(world: World): Promise<void> {
  const file = `/simulated/data/copy-${world.ledger.turn()}.db`;
  return attempt(world, `backup ${file}`, ({ store }) => store.backup(file));
}

export function tidy(world: World): Promise<void> {
  return attempt(world, "vacuum", ({ store }) => store.vacuum());
}

function healServer(server: DatabaseServer): void {
  server.plan(null);
  server.isOutOfReach = false;
}

/** After the faults, administrators resume everything. */
export async function heal(world: World): Promise<void> {
  const { projects, ledger, disk, server, machine } = world;
  Object.assign(disk.faults, { room: 1024 ** 4, failingWrites: 0, failingSyncs: 0, writesUntilKill: -1 });
  if (server !== null) healServer(server);
  while (!machine.isUp()) await pass(world, RETRY_MS);
  for (const project of [null, ...projects]) {
    const end = ledger.pauses.begin(project?.name ?? "*", "running");
    await insist(world, ({ admin }) => admin({ kind: "resume", project: project?.name ?? null }));
    end("acknowledged");
  }
  await enableWebhooks(world);
  await insist(world, ({ admin }) => admin({ kind: "delivery.resume" }));
  world.trace.add("healed");
}

/** Endpoints that returned 410 or failed for days stay disabled until an administrator enables them. */
export async function enableWebhooks(world: World): Promise<void> {
  for (const { name } of world.projects)
    for (const { id } of (await insist(world, ({ admin }) => admin({ kind: "webhook.list", project: name }))) ?? [])
      await insist(world, ({ admin }) => admin({ kind: "webhook.enable", project: name, id }));
}
