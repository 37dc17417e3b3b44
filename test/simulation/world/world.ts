/** Creates the world and connects its parts. */
import { parseSmtpUrl } from "../../../src/service/delivery/smtp/smtp-url.ts";
import { NO_SENDER } from "../../../src/service/delivery/message/sender.ts";
import { ensureFirstKey } from "../../../src/service/first-project.ts";
import { createPacing } from "../checks/pacing.ts";
import { createLedger, type Ledger, type SentMessage } from "../checks/ledger.ts";
import type { DatabaseChoice } from "../../../src/service/data-file/open-data-file.ts";
import type { DatabaseServer } from "../database/server.ts";
import { Disk } from "../disk/disk.ts";
import { mount } from "../disk/mounted.ts";
import { seams } from "../seams/seams.ts";
import { createCalendar } from "./calendar.ts";
import { type Calls, createCalls, PUBLIC_URL } from "./calls.ts";
import { type Chance, createChance, serviceRandom } from "./chance.ts";
import { createWorldClock, type WorldClock } from "./clock.ts";
import { createEndpoints, ENDPOINT_MISHAPS, ENDPOINT_SPELLS } from "./endpoints.ts";
import { createGateway, TEXT_MISHAPS, TEXT_SPELLS } from "./gateway.ts";
import { createMachine, type Machine } from "./machine.ts";
import { createMailServer, MAIL_MISHAPS, MAIL_SPELLS } from "./mail-server.ts";
import { chooseOptions, type FaultKind, type RunOptions, type WorldOptions } from "./options.ts";
import { createPostbox } from "./postbox.ts";
import { createTrace, type Trace } from "./trace.ts";
import { createWeather, type Weather } from "./weather.ts";

export interface Person {
  readonly project: Project;
  readonly email: string;
  readonly phone: string | null;
  /** The mail server has no such mailbox. */
  readonly isUnknown: boolean;
}

export interface Project {
  readonly name: string;
  /** Set when the project's key is known. */
  key: string;
  /** Key for administration over HTTP; null before it is created. */
  adminKey: string | null;
  readonly people: readonly Person[];
}

export interface World {
  readonly options: WorldOptions;
  readonly chance: Chance;
  readonly clock: WorldClock;
  readonly trace: Trace;
  readonly ledger: Ledger;
  readonly disk: Disk;
  /** Null if the data is in a file on the simulated disk. */
  readonly server: DatabaseServer | null;
  readonly machine: Machine;
  readonly calls: Calls;
  readonly projects: readonly Project[];
  /** Secret parts of the URLs for incoming bounces and texts. */
  readonly hooks: { bounces: string | null; texts: string | null };
  /** Starts asynchronous work. An error in it ends the run. */
  readonly begin: (work: () => Promise<void>) => void;
  /** Like `begin`, after `ms` milliseconds. */
  readonly later: (ms: number, work: () => Promise<void>) => void;
  /** Called with each message that arrives. */
  onArrival: (message: SentMessage, text: string) => void;
  /** Called when connections of the service have broken. */
  onHangUp: () => void;
  /** Called when the service has ended for any reason. */
  onDeath: () => void;
}

const FIRST_KEY = "key-of-the-first-project";
/** Upper bound for clock errors. */
const WRONG_CLOCK_MS = 2 * 3_600_000;
const MISHAP_SHARE = 0.06;

/** With `server`, the data isn't in a file. */
export function createWorld(
  run: RunOptions,
  server: DatabaseServer | null,
  tell: ((line: string) => void) | null = null,
): World {
  const options = chooseOptions(run);
  const chance = createChance(run.seed);
  const clock = createWorldClock({ ...options, realWork: server });
  const trace = createTrace(clock.now, tell);
  const ledger = createLedger(trace);
  const disk = new Disk(clock.now, () => machine.die());
  const syncs = chance.branch("syncs");
  mount(disk, () => clock.ofProcess(() => disk.isDetached).sleep(syncs.whole(0, 15)));
  disk.folders.set("/simulated/data", 0o700);
  const machine = createMachine({
    disk,
    server,
    clock,
    trace,
    chance: chance.branch("machine"),
    service: { ...serviceOptions(options), database: databaseOf(run) },
    prepare: async ({ store }) => void (await ensureFirstKey(store, serviceRandom(chance.branch("keys")), FIRST_KEY)),
    onDeath: () => {
      ledger.deaths.push(clock.now());
      world.onHangUp();
      world.onDeath();
    },
    onError: (event, fields) => trace.add(`error ${event} ${JSON.stringify(fields)}`),
  });
  const begin = (work: () => Promise<void>): void => {
    work().catch((error: unknown) => ledger.violate(`the world itself failed: ${(error as Error).stack}`));
  };
  const world: World = {
    options,
    chance,
    clock,
    trace,
    ledger,
    disk,
    server,
    machine,
    calls: createCalls(machine),
    projects: createProjects(options, chance.branch("people")),
    hooks: { bounces: null, texts: null },
    begin,
    later: (ms, work) => clock.at(clock.now() + ms, () => begin(work)),
    onArrival: () => undefined,
    onHangUp: () => undefined,
    onDeath: () => undefined,
  };
  connect(world);
  return world;
}

function databaseOf({ database }: RunOptions): DatabaseChoice | null {
  return database === null ? null : { url: database, mayMigrate: true, time: "clock" };
}

function serviceOptions(options: WorldOptions): Parameters<typeof createMachine>[0]["service"] {
  const limits = { daily: 1000, maxSegments: 5, countries: null, quiet: null };
  const gateway = { url: "https://texts.example/", format: "json", header: null, from: null, fields: {} } as const;
  return {
    publicUrl: PUBLIC_URL,
    rateLimit: null,
    sender: { ...NO_SENDER, from: "us@survey.example" },
    mail: {
      server: parseSmtpUrl("smtp://127.0.0.1:25"),
      certificates: null,
      rate: { count: 600, perSeconds: 60 },
      connections: options.connections,
      dkim: null,
      onlyTo: null,
    },
    sms: options.hasTexts ? { gateway, mode: "link", limits, onlyTo: null, linkUrl: null } : null,
    maxAgeSeconds: options.maxAgeSeconds,
    onUnknown: options.onUnknown,
  };
}

function createProjects(options: WorldOptions, chance: Chance): Project[] {
  return Array.from({ length: options.projects }, (_, index) => {
    const name = index === 0 ? "default" : `project${index}`;
    const project: Project = { name, key: index === 0 ? FIRST_KEY : "", adminKey: null, people: [] };
    const people = Array.from({ length: options.people }, (__, n) => ({
      project,
      email: `person${n}@${name}.example`,
      phone: options.hasTexts && chance.happens(0.5) ? `+49151${index}${String(n).padStart(6, "0")}` : null,
      isUnknown: chance.happens(0.08),
    }));
    return Object.assign(project, { people });
  });
}

/** Replaces the service's senders with the world's. */
function connect(world: World): void {
  const { options, ledger, trace, clock, chance, projects, server } = world;
  const everybody = projects.flatMap(({ people }) => people);
  const ownerOf = (address: string): Person | undefined =>
    everybody.find(({ email, phone }) => email === address || phone === address);
  const postbox = createPostbox({
    ledger,
    trace,
    now: clock.now,
    projectOf: (address) => ownerOf(address)?.project.name ?? "nobody",
    mayRepeat: (before) =>
      options.onUnknown === "resend" &&
      before.every((one) => !one.isKnown || ledger.deaths.some((atMs) => atMs >= one.atMs)),
    throttleMs: (address) => {
      const key = `${ownerOf(address)?.project.name}/${address}`;
      // Autopilot surveys its members at its own frequency, and a deleted person starts anew.
      const isExcused = ledger.endangered.has(key) || ledger.members.everTried(key).size > 0;
      return isExcused || options.throttleSeconds === null ? 0 : options.throttleSeconds * 1000 - WRONG_CLOCK_MS;
    },
    pacing: createPacing(options, { ledger, calendar: createCalendar(options.zone), now: clock.now }),
    onArrival: (message, text) => world.onArrival(message, text),
  });
  const weather = <Mode extends string>(
    kind: FaultKind,
    spells: readonly Mode[],
    mishaps: readonly Mode[],
  ): Weather<Mode> =>
    createWeather<Mode>({
      chance: chance.branch(`weather of ${kind}`),
      now: clock.now,
      fromMs: options.startMs,
      untilMs: options.calmMs,
      spells,
      mishaps,
      longestHours: kind === "mail" ? 30 : 20,
      mishapShare: MISHAP_SHARE,
      isOn: options.faults.includes(kind),
    });
  if (server !== null) seams.database = () => server;
  world.onHangUp = postbox.hangUp;
  seams.mail = createMailServer({
    chance: chance.branch("mail"),
    weather: weather("mail", MAIL_SPELLS, MAIL_MISHAPS),
    postbox,
    isUnknown: (address) => ownerOf(address)?.isUnknown ?? true,
  });
  seams.texts = createGateway({
    chance: chance.branch("texts"),
    weather: weather("texts", TEXT_SPELLS, TEXT_MISHAPS),
    postbox,
  });
  seams.endpoint = createEndpoints({
    chance: chance.branch("webhooks"),
    weather: weather("webhooks", ENDPOINT_SPELLS, ENDPOINT_MISHAPS),
    ledger,
    trace,
    now: clock.now,
  });
}
