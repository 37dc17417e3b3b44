import { expect } from "vitest";
import { silentLog } from "../../../../src/runtime/log.ts";
import { systemClock } from "../../../../src/runtime/clock.ts";
import { systemRandom } from "../../../../src/runtime/random.ts";
import { ensureFirstKey } from "../../../../src/service/first-project.ts";
import { openService, type Service } from "../../../../src/service/service.ts";
import { type DatabaseProxy, startDatabaseProxy } from "../../../helpers/database-proxy.ts";
import { administer, type Cluster } from "../../../helpers/postgres.ts";
import { FLEET_KEY } from "../fleet.ts";

export async function newName(cluster: Cluster): Promise<string> {
  const name = `d${systemRandom.token(9).toLowerCase().replaceAll(/\W/g, "_")}`;
  await administer(cluster, `CREATE DATABASE ${name}`);
  return name;
}

export interface ServiceBehindProxy {
  readonly service: Service;
  readonly proxy: DatabaseProxy;
  readonly save: (email: string) => Promise<{ readonly status: number }>;
  readonly list: () => Promise<{ readonly status: number }>;
  readonly close: () => Promise<void>;
}

export async function openBehindProxy(cluster: Cluster): Promise<ServiceBehindProxy> {
  const name = await newName(cluster);
  const proxy = await startDatabaseProxy(cluster);
  const database = { url: proxy.url(name), mayMigrate: true };
  const world = { clock: systemClock, random: systemRandom, log: silentLog };
  const service = await openService({ ...world, dataFile: name, database, publicUrl: null, rateLimit: null });
  await ensureFirstKey(service.store, systemRandom, FLEET_KEY);
  const headers = { authorization: `Basic ${btoa(`${FLEET_KEY}:`)}`, "content-type": "application/json" };
  const save = (email: string): Promise<{ readonly status: number }> => {
    const body = JSON.stringify({ email, send: false });
    return service.handle({ method: "POST", url: "http://x.test/v1/people.json", headers, body });
  };
  const list = (): Promise<{ readonly status: number }> =>
    service.handle({ method: "GET", url: "http://x.test/v1/people.json", headers, body: "" });
  await noteUse(service, list);
  const close = async (): Promise<void> => {
    await service.close();
    await proxy.stop();
  };
  return { service, proxy, save, list, close };
}

/**
 * A key's first use is recorded in the background. Wait for it, so that it can't commit while a test breaks the
 * connection.
 */
async function noteUse(service: Service, list: ServiceBehindProxy["list"]): Promise<void> {
  await list();
  const lastUse = (): Promise<unknown> =>
    service.store.read(async (tx) => (await tx.projects.listKeys(1)).find(({ lastUsedOn }) => lastUsedOn !== null));
  await expect.poll(lastUse, { timeout: 10_000 }).toBeDefined();
}
