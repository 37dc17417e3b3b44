import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { systemClock, type Clock } from "../../../../src/runtime/clock.ts";
import { systemRandom } from "../../../../src/runtime/random.ts";
import type { Project } from "../../../../src/service/domain/inputs.ts";
import { sendPerson } from "../../../../src/service/domain/people/people.ts";
import type { DeliveryRow, Store, Transaction } from "../../../../src/service/domain/ports.ts";
import { addProject } from "../../../../src/service/domain/projects/projects.ts";
import { openSqliteStore } from "../../../../src/service/store/sqlite/open-sqlite-store.ts";
import { runInside } from "../../../helpers/in-process.ts";
import { startProgram, type Running } from "../../../helpers/run-cli.ts";
import { sendInput } from "../../domain/fixture.ts";
import { deliveriesOf } from "../../domain/lists.ts";

export interface Mailing {
  readonly dataFile: string;
  readonly inspect: <Result>(work: (tx: Transaction) => Promise<Result>) => Promise<Result>;
  readonly rows: () => Promise<readonly DeliveryRow[]>;
  readonly serve: (args: readonly string[], env?: Readonly<Record<string, string>>) => MailingServer;
  readonly remove: () => Promise<void>;
}

export interface MailingServer extends Running {
  readonly url: Promise<string>;
}

export interface MailingBegin {
  readonly clock?: Clock;
  readonly more?: (tx: Transaction, project: Project) => Promise<unknown>;
}

export async function createMailing(
  addresses: readonly string[],
  { clock: first = systemClock, more }: MailingBegin = {},
): Promise<Mailing> {
  const folder = await mkdtemp(path.join(tmpdir(), "surveyctl-mailing-"));
  const dataFile = path.join(folder, "survey.db");
  const withStore = async <Result>(work: (store: Store) => Promise<Result>, clock = systemClock): Promise<Result> => {
    const store = await openSqliteStore({ file: dataFile, clock, random: systemRandom });
    try {
      return await work(store);
    } finally {
      await store.close();
    }
  };
  await withStore(async (store) => {
    const project = await schedule(store, addresses);
    await store.write(async (tx) => more?.(tx, project), { project: "all" });
  }, first);
  const command = ["serve", "--data", dataFile, "--port", "0", "--smtp-from", "surveys@example.com", "--local-links"];
  const key = { SURVEYCTL_API_KEY: MAILING_KEY };
  const inspect: Mailing["inspect"] = (work) => withStore((store) => store.read(work));
  return {
    dataFile,
    inspect,
    rows: () => inspect(listAll),
    serve: (args, env = {}) => {
      const running = startProgram({ args: [...command, ...args], home: folder, env: { ...key, ...env } });
      return { ...running, url: urlOf(running) };
    },
    remove: () => rm(folder, { recursive: true, force: true }),
  };
}

function urlOf(running: Running): Promise<string> {
  const url = running.saying(/^listening on (http\S+)$/m).then(([, found = ""]) => found);
  url.catch(() => undefined);
  return url;
}

export const MAILING_KEY = "key-of-the-mailing";

export async function schedule(store: Store, addresses: readonly string[]): Promise<Project> {
  const project = await store.write(async (tx) => (await tx.projects.byName("default")) ?? addProject(tx, "default"), {
    project: "all",
  });
  for (let at = 0; at < addresses.length; at += 500)
    await store.write(
      async (tx) => {
        for (const email of addresses.slice(at, at + 500)) await sendPerson(tx, project, sendInput({ email }));
      },
      { project: "all" },
    );
  return project;
}

export async function listAll(tx: Transaction): Promise<readonly DeliveryRow[]> {
  const project = await tx.projects.byName("default");
  return deliveriesOf(tx, project?.id ?? 0);
}

/** `/metrics` lags behind by seconds. */
export async function countWaiting(dataFile: string): Promise<number> {
  const asked = ["service", "delivery", "status", "--data", dataFile, "--json"];
  const { stdout } = await runInside({ args: asked, home: path.dirname(dataFile) });
  const { scheduled, claimed, transmitting, retrying } = JSON.parse(stdout) as Record<string, number>;
  return (scheduled ?? 0) + (claimed ?? 0) + (transmitting ?? 0) + (retrying ?? 0);
}
