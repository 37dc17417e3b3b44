/** A pooler in transaction mode loses prepared statements. */
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { systemClock } from "../../../../src/runtime/clock.ts";
import { sendPerson } from "../../../../src/service/domain/people/people.ts";
import type { Store } from "../../../../src/service/domain/ports.ts";
import { addProject } from "../../../../src/service/domain/projects/projects.ts";
import { openPostgresStore } from "../../../../src/service/store/postgres/open-postgres-store.ts";
import { administer, type Cluster, hasPostgres, startCluster } from "../../../helpers/postgres.ts";
import { startTransactionPooler } from "../../../helpers/transaction-pooler.ts";
import { sendInput } from "../../domain/fixture.ts";

const ROUNDS = 8;
const AT_ONCE = 8;

const state: { cluster?: Cluster } = {};
const open: (() => unknown)[] = [];
afterEach(async () => {
  for (const stop of open.splice(0).toReversed()) await stop();
});

describe.skipIf(!hasPostgres)("a pooler in transaction mode", () => {
  beforeAll(() => {
    state.cluster = startCluster({ port: 5436 });
  });
  afterAll(() => state.cluster?.stop());

  test.each([
    ["", "named"],
    ["?prepare=off", "unnamed"],
  ])("when the URL ends in %j, then each write is done once, and reads show it", async (how, name) => {
    await administer(state.cluster!, `CREATE DATABASE ${name}`);
    const pooler = await startTransactionPooler(state.cluster!, name);
    open.push(pooler.stop);
    const retries: string[] = [];
    const store = await openPostgresStore({
      url: pooler.url + how,
      clock: systemClock,
      onRetry: (sqlstate) => retries.push(sqlstate),
    });
    open.push(() => store.close());
    const projects = await store.write(async (tx) => [await addProject(tx, "a"), await addProject(tx, "b")], {
      project: "all",
    });
    const save = async (at: number): Promise<boolean> => {
      const project = projects[at % projects.length]!;
      const work: Parameters<Store["write"]>[0] = (tx) => sendPerson(tx, project, sendInput({ email: `p${at}@x.co` }));
      const { created } = (await store.write(work, { project: project.id })) as { readonly created: boolean };
      const found = await store.read((tx) => tx.people.byEmail(project.id, `p${at}@x.co`));
      return created && found !== null;
    };
    for (let round = 0; round < ROUNDS; round += 1) {
      const saved = await Promise.all(Array.from({ length: AT_ONCE }, (_, at) => save(round * AT_ONCE + at)));
      expect(new Set(saved)).toEqual(new Set([true]));
    }
    const counts = await Promise.all(projects.map(({ id }) => store.read((tx) => tx.projects.counts(id))));
    expect(counts.map(({ people }) => people)).toEqual([(ROUNDS * AT_ONCE) / 2, (ROUNDS * AT_ONCE) / 2]);
    expect(await store.check()).toEqual([]);
    // If the pooler never switched connections, the test proves nothing.
    expect(pooler.changes()).toBeGreaterThan(ROUNDS);
    // After the first failure the store stops naming statements.
    expect(new Set(retries).size).toBeLessThanOrEqual(how === "" ? 2 : 0);
  });
});
