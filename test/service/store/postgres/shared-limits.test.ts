/** Limits shared by all processes on one database. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { systemClock } from "../../../../src/runtime/clock.ts";
import { SendRateLimiter } from "../../../../src/service/sending/pacing/send-rate-limiter.ts";
import { SegmentBudget } from "../../../../src/service/sending/sms-sender.ts";
import type { Store } from "../../../../src/service/domain/ports.ts";
import { addProject } from "../../../../src/service/domain/projects/projects.ts";
import { openPostgresStore } from "../../../../src/service/store/postgres/open-postgres-store.ts";
import { hasPostgres, newDatabase } from "../../../helpers/postgres.ts";

describe.skipIf(!hasPostgres)("two processes that send", () => {
  let stores: Store[] = [];
  let project = { id: 0, name: "" };
  beforeAll(async () => {
    const url = await newDatabase();
    stores = [
      await openPostgresStore({ url, clock: systemClock }),
      await openPostgresStore({ url, clock: systemClock }),
    ];
    project = await stores[0]!.write((tx) => addProject(tx, "default"), { project: "all" });
  });
  afterAll(() => Promise.all(stores.map((store) => store.close())));

  test("when both send as fast as they may, then together they keep the rate of one", async () => {
    const rate = { count: 20, perSeconds: 1 };
    const senders = stores.map(
      (store) => new SendRateLimiter({ store, rate, clock: systemClock, name: "smtp", wanted: () => 10 }),
    );
    const take = async (at: number): Promise<number> => senders[at % 2]!.take();
    const moments = (await Promise.all(Array.from({ length: 60 }, (_, at) => take(at)))).toSorted((a, b) => a - b);
    // A slow transaction can only delay a message.
    expect(moments.at(-1)! - moments[0]!).toBeGreaterThan(59 * 50 - 400);
    expect(moments[30]! - moments[0]!).toBeGreaterThan(30 * 50 - 400);
  });

  test("when both send text messages, then a day has as many segments as one process may send", async () => {
    const budgets = stores.map((store) => new SegmentBudget({ daily: 10, store, onError: () => undefined }));
    const take = (at: number): Promise<boolean> => budgets[at % 2]!.take(project, "2026-05-31", 1);
    const taken = await Promise.all(Array.from({ length: 14 }, (_, at) => take(at)));
    expect(taken.filter((isTaken) => isTaken)).toHaveLength(10);
    budgets[0]!.giveBack(project, "2026-05-31", 2);
    expect([await take(0), await take(0), await take(1)]).toEqual([true, true, false]);
    expect(await budgets[1]!.take(project, "2026-06-01", 10)).toBe(true);
  });
});
