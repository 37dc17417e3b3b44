import { Agent, request } from "node:http";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { systemClock } from "../../../src/runtime/clock.ts";
import type { Store } from "../../../src/service/domain/ports.ts";
import { openPostgresStore } from "../../../src/service/store/postgres/open-postgres-store.ts";
import { openSqliteStore } from "../../../src/service/store/sqlite/open-sqlite-store.ts";
import { newDatabase, onPostgres } from "../../helpers/postgres.ts";
import { startProgram, type Running } from "../../helpers/run-cli.ts";

export const FLEET_KEY = "test-key-of-the-fleet";

export interface Member {
  readonly url: string;
  readonly running: Running;
  /** Sends the signal and waits for the process to exit. */
  signal(name: "SIGKILL" | "SIGTERM"): Promise<unknown>;
  freeze(): void;
  thaw(): void;
}

export interface Place {
  readonly args: readonly string[];
  readonly open: () => Promise<Store>;
  readonly remove: () => Promise<void>;
}

export const databasePlace = (url: string): Place => ({
  args: ["--database", url],
  open: () => openPostgresStore({ url, clock: systemClock }),
  remove: async () => undefined,
});

export async function newPlace(): Promise<Place> {
  if (onPostgres) return databasePlace(await newDatabase());
  const folder = await mkdtemp(path.join(tmpdir(), "surveyctl-place-"));
  const file = path.join(folder, "survey.db");
  return {
    args: ["--data", file],
    open: () => openSqliteStore({ file, clock: systemClock }),
    remove: () => rm(folder, { recursive: true, force: true }),
  };
}

export interface Fleet {
  readonly place: Place;
  readonly folder: string;
  readonly members: Member[];
  readonly start: (args?: readonly string[]) => Promise<Member>;
  readonly withStore: <Result>(work: (store: Store) => Promise<Result>) => Promise<Result>;
  readonly stop: () => Promise<void>;
}

export interface FleetOptions {
  readonly count: number;
  readonly args?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
}

export async function startFleet(place: Place, { count, args = [], env = {} }: FleetOptions): Promise<Fleet> {
  const folder = await mkdtemp(path.join(tmpdir(), "surveyctl-fleet-"));
  const members: Member[] = [];
  const outlet = args.includes("--smtp") ? [] : ["--outbox", path.join(folder, "outbox")];
  const start: Fleet["start"] = async (more = []) => {
    const running = startProgram({
      args: ["serve", ...place.args, ...outlet, "--port", "0", ...args, ...more],
      home: folder,
      env: { SURVEYCTL_API_KEY: FLEET_KEY, ...env },
    });
    const [, url = ""] = await running.saying(/^listening on (http\S+)$/m);
    const member: Member = {
      url,
      running,
      signal: (name) => {
        members.splice(members.indexOf(member), 1);
        running.child.kill(name);
        return running.ended;
      },
      freeze: () => void running.child.kill("SIGSTOP"),
      thaw: () => void running.child.kill("SIGCONT"),
    };
    members.push(member);
    return member;
  };
  for (let at = 0; at < count; at += 1) await start();
  return {
    place,
    folder,
    members,
    start,
    withStore: async (work) => {
      const store = await place.open();
      try {
        return await work(store);
      } finally {
        await store.close();
      }
    },
    stop: async () => {
      for (const member of members.toReversed()) {
        member.thaw();
        await member.signal("SIGTERM");
      }
      await rm(folder, { recursive: true, force: true });
    },
  };
}

export interface Reply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly json: unknown;
}

/** Closes idle connections before the server does, so no request meets a closing connection. */
const agent = new Agent({ keepAlive: true, maxSockets: 64, timeout: 2000 });

export function ask(url: string, method: string, target: string, body?: unknown, key = FLEET_KEY): Promise<Reply> {
  const text = body === undefined ? null : JSON.stringify(body);
  const auth = { authorization: `Basic ${btoa(`${key}:`)}` };
  const type = text === null ? {} : { "content-type": "application/json", "content-length": Buffer.byteLength(text) };
  return new Promise((resolve, reject) => {
    const sent = request(new URL(target, url), { method, agent, headers: { ...auth, ...type } }, (answer) => {
      let got = "";
      answer
        .setEncoding("utf8")
        .on("data", (part: string) => (got += part))
        .on("end", () => {
          const json = /^[[{]/.test(got) ? (JSON.parse(got) as unknown) : null;
          resolve({ status: answer.statusCode ?? 0, headers: answer.headers, json });
        })
        .on("error", reject);
    });
    sent.on("error", reject).end(text ?? undefined);
  });
}
