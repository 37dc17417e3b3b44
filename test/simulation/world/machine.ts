/** The machine runs one service process, which can be killed at any write and restarted. */
import type { HttpRequest } from "../../../src/contract/http.ts";
import type { Clock } from "../../../src/runtime/clock.ts";
import type { Log } from "../../../src/runtime/log.ts";
import { openTestService, type TestService } from "../../helpers/test-service.ts";
import type { ServiceOptions } from "../../../src/service/service-options.ts";
import type { Disk } from "../disk/disk.ts";
import type { DatabaseServer, StatementFault } from "../database/server.ts";
import { seams } from "../seams/seams.ts";
import { type Chance, serviceRandom } from "./chance.ts";
import type { WorldClock } from "./clock.ts";
import type { Trace } from "./trace.ts";

export interface Answer {
  /** Null if there was no reply. */
  readonly status: number | null;
  readonly headers: Readonly<Record<string, string>>;
  readonly text: string;
  /** Whether a process received the request. */
  readonly isTaken: boolean;
}

export type AdminAnswer<Result> =
  | { readonly kind: "done"; readonly result: Result }
  | { readonly kind: "refused"; readonly error: Error }
  /** `isTaken`: whether a process received the command. */
  | { readonly kind: "lost"; readonly isTaken: boolean };

export interface Machine {
  readonly isUp: () => boolean;
  /** Starts the service; false if it didn't start. */
  readonly start: () => Promise<boolean>;
  /** Ends it like SIGTERM. */
  readonly stop: () => Promise<void>;
  /** Ends it like kill -9. `losesPower` also drops unsynced data. */
  readonly kill: (losesPower: boolean) => Promise<void>;
  /** Kills the process at its `writes`th write from now. */
  readonly killAtWrite: (writes: number, losesPower: boolean) => void;
  /** Like `killAtWrite`, at a statement to the server. */
  readonly killAtStatement: (at: Omit<StatementFault, "kills">, losesPower: boolean) => void;
  readonly request: (request: HttpRequest) => Promise<Answer>;
  /** Runs a command on the service. */
  readonly command: <Result>(work: (service: TestService) => Promise<Result>) => Promise<AdminAnswer<Result>>;
  /** Called at the process's last write or statement. */
  readonly die: () => void;
}

export interface MachineOptions {
  readonly disk: Disk;
  /** Null if the data is in a file on the simulated disk. */
  readonly server: DatabaseServer | null;
  readonly clock: WorldClock;
  readonly chance: Chance;
  readonly trace: Trace;
  readonly service: Omit<ServiceOptions, "clock" | "random" | "log" | "dataFile">;
  /** Called with the store of each service that starts. */
  readonly prepare: (service: TestService) => Promise<void>;
  /** Called when the process has exited or was killed; it isn't restarted automatically. */
  readonly onDeath: () => void;
  readonly onError: (event: string, fields: Readonly<Record<string, unknown>>) => void;
}

interface Life {
  readonly clock: Clock;
  readonly closers: (() => void)[];
  service: TestService | null;
  isDead: boolean;
  readonly ended: Promise<null>;
  readonly end: () => void;
}

export const DATA_FILE = "/simulated/data/survey.db";

export function createMachine(options: MachineOptions): Machine {
  const { disk, server, clock, trace } = options;
  const state = { life: null as Life | null, lives: 0, killLosesPower: false };
  seams.opened = (close) => void state.life?.closers.push(close);

  const forget = (life: Life): void => {
    life.isDead = true;
    if (state.life === life) state.life = null;
    life.end();
    options.onDeath();
  };
  const bury = async (life: Life, losesPower: boolean): Promise<void> => {
    life.isDead = true;
    disk.isDetached = true;
    // Remaining work of the dead process has no effect.
    await clock.settle();
    for (const close of life.closers) closeQuietly(close);
    if (losesPower) disk.cutPower(options.chance.fraction);
    else disk.killProcess();
    disk.isDetached = false;
    disk.faults.writesUntilKill = -1;
    server?.plan(null);
    trace.add(losesPower ? "power cut" : "killed");
    trace.count(losesPower ? "power cuts" : "kills");
    forget(life);
  };
  const leave = async (life: Life, service: TestService): Promise<void> => {
    await Promise.race([closeOrderly(service), life.ended]);
    if (life.isDead) return;
    disk.killProcess();
    trace.add("stopped");
    forget(life);
  };
  const living = (): { readonly life: Life; readonly service: TestService } | null => {
    const { life } = state;
    return life === null || life.service === null || life.isDead ? null : { life, service: life.service };
  };
  const start = async (): Promise<boolean> => {
    if (state.life !== null) return false;
    state.lives += 1;
    const life = createLife(clock);
    state.life = life;
    try {
      const service = await Promise.race([openLife(options, life, state.lives), life.ended]);
      if (service === null || life.isDead) return false;
      life.service = service;
      void service.store.lost.then(() => clock.at(clock.now(), () => void leave(life, service)));
      trace.add("started");
      return true;
    } catch (error) {
      if (life.isDead) return false;
      trace.add(`did not start: ${(error as Error).message}`);
      disk.killProcess();
      forget(life);
      return false;
    }
  };
  return {
    isUp: () => living() !== null,
    start,
    stop: async () => {
      const now = living();
      now?.service.setReady(false);
      if (now !== null) await leave(now.life, now.service);
    },
    kill: async (losesPower) => {
      if (state.life !== null && !state.life.isDead) await bury(state.life, losesPower);
    },
    killAtStatement: (at, losesPower) => {
      state.killLosesPower = losesPower;
      server?.plan({ ...at, kills: true });
    },
    killAtWrite: (writes, losesPower) => {
      state.killLosesPower = losesPower;
      disk.faults.writesUntilKill = writes;
    },
    die: () => {
      const { life } = state;
      if (life === null) return;
      life.isDead = true;
      clock.at(clock.now(), () => void bury(life, state.killLosesPower));
    },
    request: async (request) => {
      const now = living();
      if (now === null) return NOT_TAKEN;
      const answer = await Promise.race([exchange(now.service, request), now.life.ended]);
      return answer === null || now.life.isDead ? { ...NOT_TAKEN, isTaken: true } : answer;
    },
    command: async (work) => {
      const now = living();
      if (now === null) return { kind: "lost", isTaken: false };
      try {
        const result = await Promise.race([work(now.service), now.life.ended]);
        return result === null || now.life.isDead ? LOST : { kind: "done", result };
      } catch (error) {
        return now.life.isDead ? LOST : { kind: "refused", error: error as Error };
      }
    },
  };
}

const LOST = { kind: "lost", isTaken: true } as const;
const NOT_TAKEN: Answer = { status: null, headers: {}, text: "", isTaken: false };

function createLife(clock: WorldClock): Life {
  const ending: (() => void)[] = [];
  const life: Life = {
    clock: clock.ofProcess(() => life.isDead),
    closers: [],
    service: null,
    isDead: false,
    ended: new Promise((resolve) => void ending.push(() => resolve(null))),
    end: () => ending[0]?.(),
  };
  return life;
}

async function openLife(options: MachineOptions, life: Life, number: number): Promise<TestService> {
  const random = serviceRandom(options.chance.branch(`life ${number}`));
  const log = createListeningLog(options.onError, life);
  const service = await openTestService({ ...options.service, dataFile: DATA_FILE, clock: life.clock, random, log });
  await options.prepare(service);
  service.start();
  return service;
}

async function closeOrderly(service: TestService): Promise<void> {
  await service.stop();
  await service.close();
}

async function exchange(service: TestService, request: HttpRequest): Promise<Answer> {
  const { status, headers, body } = await service.handle(request);
  return { status, headers, text: typeof body === "string" ? body : await textOf(body), isTaken: true };
}

async function textOf(body: AsyncIterable<Uint8Array>): Promise<string> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of body) chunks.push(chunk);
  return Buffer.concat(chunks).toString("utf8");
}

function createListeningLog(onError: MachineOptions["onError"], life: Life): Log {
  return {
    info: () => undefined,
    warn: () => undefined,
    error: (event, fields) => {
      if (!life.isDead) onError(event, fields);
    },
    flush: () => undefined,
  };
}

function closeQuietly(close: () => void): void {
  try {
    close();
  } catch {
    // Its disk is gone.
  }
}
