import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { Client } from "pg";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { systemClock } from "../../../../src/runtime/clock.ts";
import { silentLog } from "../../../../src/runtime/log.ts";
import { systemRandom } from "../../../../src/runtime/random.ts";
import { sendPerson } from "../../../../src/service/domain/people/people.ts";
import type { Admin } from "../../../../src/service/operations/index.ts";
import { openTestService, type TestService } from "../../../helpers/test-service.ts";
import { hasPostgres, newDatabase } from "../../../helpers/postgres.ts";
import { sendInput } from "../../domain/fixture.ts";

const COMMANDS: Readonly<Record<string, (admin: Admin, project: string) => Promise<unknown>>> = {
  "key.add": (admin, project) => admin({ kind: "key.add", project }),
  "key.revoke": async (admin, project) => {
    const { id } = await admin({ kind: "key.add", project });
    return admin({ kind: "key.revoke", confirm: true, project, id });
  },
  throttle: (admin, project) => admin({ kind: "throttle", project, interval: 60 }),
  settings: (admin, project) => admin({ kind: "settings", project }),
  "trend.add": (admin, project) => admin({ kind: "trend.add", project, name: "Pro", where: { plan: "pro" } }),
  "link.add": (admin, project) => admin({ kind: "link.add", project, name: "Receipt", property: {} }),
  brand: (admin, project) => admin({ kind: "brand.set", project, name: "Acme" }),
  pause: (admin, project) => admin({ kind: "pause", project }),
  "webhook.add": (admin, project) =>
    admin({
      kind: "webhook.add",
      project,
      url: "https://example.com/",
      allow_private: false,
      insecure_http: false,
      format: "json",
    }),
  erase: (admin, project) =>
    admin({
      kind: "erase",
      confirm: true,
      project,
      email: "ada@x.co",
      phone_number: null,
      dry_run: false,
      properties: false,
      forget_unsubscribe: false,
    }),
};

const WITHOUT_PROJECT: typeof COMMANDS = {
  "bounce.hook": (admin) => admin({ kind: "bounce.hook", rotate: true, keys: {} }),
  "sms.hook": (admin) => admin({ kind: "sms.hook", rotate: true, keys: {} }),
};

const READS: typeof COMMANDS = {
  "key.list": (admin, project) => admin({ kind: "key.list", project }),
  "trend.list": (admin, project) => admin({ kind: "trend.list", project }),
  throttle: (admin, project) => admin({ kind: "throttle", project }),
  autopilot: (admin, project) => admin({ kind: "autopilot", project, platform: "email" }),
};

const outcomeOf = (work: Promise<unknown>): Promise<string> =>
  Promise.race([work.then(() => "done"), systemClock.sleep(20_000).then(() => "waits")]);

async function addResponses(url: string, project: string, count: number): Promise<void> {
  const client = new Client({ connectionString: url });
  await client.connect();
  await client.query(
    `INSERT INTO responses (project_id, id, person_id, score, token, created_at, updated_at, person_properties)
     SELECT p.project_id, 1000 + n, p.id, 9, 'token' || n, n, n, '{"plan":"pro"}'
     FROM people p JOIN projects q ON q.id = p.project_id CROSS JOIN generate_series(1, $2::int) AS n WHERE q.name = $1`,
    [project, count],
  );
  await client.end();
}

describe.skipIf(!hasPostgres)("while a project is locked by a long write", () => {
  let service: TestService;
  let holder: Client;
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(path.join(tmpdir(), "surveyctl-locks-"));
    const url = await newDatabase();
    service = await openTestService({
      dataFile: path.join(folder, "survey.db"),
      database: { url, mayMigrate: true, time: "clock" },
      clock: systemClock,
      random: systemRandom,
      log: silentLog,
      publicUrl: null,
      rateLimit: null,
    });
    for (const name of ["acme", "busy"]) await service.admin({ kind: "project.add", name });
    await service.store.write(
      async (tx) => {
        const acme = (await tx.projects.byName("acme"))!;
        await sendPerson(tx, acme, sendInput({ email: "ada@x.co", send: false }));
      },
      { project: "all" },
    );
    await addResponses(url, "acme", 2500);
    holder = new Client({ connectionString: url });
    await holder.connect();
    await holder.query("BEGIN");
    await holder.query(
      "SELECT 1 FROM project_state WHERE project_id = (SELECT id FROM projects WHERE name = 'busy') FOR UPDATE",
    );
  });
  afterAll(async () => {
    await holder.end();
    await service.close();
    await rm(folder, { recursive: true, force: true });
  });

  test.for(Object.keys(COMMANDS))("when %s changes another project, then it does not wait", async (kind) => {
    expect(await outcomeOf(COMMANDS[kind]!(service.admin, "acme"))).toBe("done");
  });

  test.for(Object.keys(WITHOUT_PROJECT))(
    "when %s changes the service as a whole, then it does not wait",
    async (kind) => {
      expect(await outcomeOf(WITHOUT_PROJECT[kind]!(service.admin, ""))).toBe("done");
    },
  );

  test.for(Object.keys(READS))("when %s only shows that project, then it does not wait", async (kind) => {
    expect(await outcomeOf(READS[kind]!(service.admin, "busy"))).toBe("done");
  });
});
