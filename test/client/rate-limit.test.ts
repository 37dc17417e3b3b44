import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { expect, it, onTestFinished } from "vitest";
import type { Exchange } from "../../src/contract/http.ts";
import { createClient } from "../../src/client/create-client.ts";
import { Gate } from "../../src/client/gate/gate.ts";
import { silentLog } from "../../src/runtime/log.ts";
import { systemRandom } from "../../src/runtime/random.ts";
import { ensureProject } from "../../src/service/first-project.ts";
import { openTestService } from "../helpers/test-service.ts";
import { createFakeClock } from "../helpers/fake-clock.ts";
import { size } from "../helpers/long.ts";

const LIMITS = [
  { rate: "50/s", limit: { requests: 50, periodSeconds: 1 }, rows: 1600 },
  { rate: "600/m", limit: { requests: 600, periodSeconds: 60 }, rows: 2000 },
];

it.each(LIMITS.slice(0, size(1, 2)))(
  "when a long import meets a service limited to $rate, then at most 1 % of its requests meet a 429 once it has settled",
  async ({ limit, rows }) => {
    const folder = await mkdtemp(path.join(tmpdir(), "surveyctl-rate-"));
    onTestFinished(async () => await rm(folder, { recursive: true, force: true }));
    const clock = createFakeClock();

    const dataFile = path.join(folder, "survey.db");
    const service = await openTestService({
      dataFile,
      clock,
      random: systemRandom,
      log: silentLog,
      publicUrl: null,
      rateLimit: limit,
    });
    onTestFinished(async () => await service.close());
    await ensureProject(service.store);
    const { key } = await service.admin({ kind: "key.add", project: "default" });
    const statuses: number[] = [];
    const transport: Exchange = async (request) => {
      await clock.sleep(5);
      const response = await service.handle(request);
      statuses.push(response.status);
      return response;
    };
    const gate = new Gate({ clock, concurrency: 8 });
    const client = createClient({ baseUrl: "http://service", apiKey: key, transport, clock, gate });
    let next = 0;
    const work = async (): Promise<void> => {
      while (next < rows) {
        next += 1;
        expect((await client.sendPerson({ email: `person${next}@example.com`, send: false })).kind).toBe("answered");
      }
    };
    await Promise.all(Array.from({ length: 8 }, work));
    expect(statuses.filter((status) => status === 201)).toHaveLength(rows);
    const settled = statuses.slice(Math.floor(statuses.length / 2));
    expect(settled.filter((status) => status === 429).length / settled.length).toBeLessThanOrEqual(0.01);
    const seconds = clock.monotonic() / 1000;
    expect(seconds).toBeLessThan((1.25 * (rows - limit.requests) * limit.periodSeconds) / limit.requests);
  },
);
