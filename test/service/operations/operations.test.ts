import { settleClaim } from "../../../src/service/domain/delivery/claims.ts";
import { existsSync } from "node:fs";
import { mkdtemp, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { systemClock } from "../../../src/runtime/clock.ts";
import { silentLog } from "../../../src/runtime/log.ts";
import { systemRandom } from "../../../src/runtime/random.ts";
import { administer } from "../../../src/service/data-file/administer.ts";
import { DomainError } from "../../../src/service/domain/errors.ts";
import type { Admin, ResultOf } from "../../../src/service/operations/index.ts";
import type { DeliveryState } from "../../../src/service/domain/ports.ts";
import { addProject } from "../../../src/service/domain/projects/projects.ts";
import { openService } from "../../../src/service/service.ts";
import { openLocal } from "../../../src/service/data-file/local.ts";
import { openSqliteStore } from "../../../src/service/store/sqlite/open-sqlite-store.ts";
import { runServer, type RunningServer } from "../../../src/service/run-server.ts";

const state: { folder: string; servers: RunningServer[] } = { folder: "", servers: [] };
beforeEach(async () => {
  state.folder = await mkdtemp(path.join(tmpdir(), "surveyctl-control-"));
});
afterEach(async () => {
  for (const server of state.servers.splice(0)) await server.stop();
  await rm(state.folder, { recursive: true, force: true });
});

const dataFile = (): string => path.join(state.folder, "survey.db");
const world = () => ({ dataFile: dataFile(), clock: systemClock, random: systemRandom });

async function serve(): Promise<RunningServer> {
  const service = await openService({ ...world(), log: silentLog, publicUrl: null, rateLimit: null });
  const server = await runServer(service, { host: "127.0.0.1", port: 0, tls: null });
  state.servers.push(server);
  return server;
}

const people = async (url: string, key: string): Promise<number> =>
  (await fetch(`${url}/v1/people.json`, { headers: { authorization: `Basic ${btoa(`${key}:`)}` } })).status;

type Listed = ResultOf<"delivery.list">;

const NOBODY = { email: null, name: null, phoneNumber: null, createdAt: 1, lastSentAt: null };

async function everyCommand(admin: Admin): Promise<unknown> {
  const { key, base_url: _, ...project } = await admin({ kind: "project.add", name: "acme" });
  const { key: second, id } = await admin({ kind: "key.add", project: "acme" });
  const trend = await admin({ kind: "trend.add", project: "acme", name: "Pro", where: { plan: "pro" } });
  return {
    project,
    keysDiffer: key !== second && /^[\w-]{32}$/.test(key),
    keys: (await admin({ kind: "key.list", project: "acme" })).map(({ last_four }) =>
      [key, second].some((one) => one.endsWith(last_four)),
    ),
    revoked: await admin({ kind: "key.revoke", confirm: true, project: "acme", id }),
    throttle: [
      await admin({ kind: "throttle", project: "acme" }),
      await admin({ kind: "throttle", project: "acme", interval: "off" }),
    ],
    autopilot: await admin({
      kind: "autopilot",
      project: "acme",
      platform: "sms",
      active: false,
      frequency: 60,
    }),
    settings: [
      await admin({ kind: "settings", project: "acme", from: "ask@acme.example", tz: "Asia/Tokyo" }),
      await admin({ kind: "settings", project: "acme", from: "", sender_name: " Acme ", footer: "a\nb" }),
      await admin({ kind: "settings", project: "acme" }),
    ],
    preview: await admin({ kind: "survey.preview", project: "acme", email: null, locale: "fr" }).then(
      ({ from, to, subject, text, html, message }) => [
        from,
        to,
        subject,
        text.includes("clients de Acme.\n\na\nb\n"),
        html.includes('lang="fr"'),
        message.includes("\r\nSubject: Que pensez-vous de nous ?\r\n"),
      ],
    ),
    trends: await admin({ kind: "trend.list", project: "acme" }).then((trends) =>
      trends.map(({ name, where }) => ({ name, where })),
    ),
    removed: (await admin({ kind: "trend.remove", confirm: true, project: "acme", id: trend.id })).id === trend.id,
    projects: (await admin({ kind: "project.list" })).map(({ name, throttle }) => ({ name, throttle })),
  };
}

const EVERY_RESULT = {
  project: { id: "1", name: "acme" },
  keysDiffer: true,
  keys: [true, true],
  revoked: { id: "2" },
  throttle: [{ throttle: 2_592_000 }, { throttle: null }],
  autopilot: {
    platform: "sms",
    active: false,
    frequency: 60,
    first: "spread",
    days: "mon-fri",
    hours: "9-18",
    tz: "UTC",
  },
  settings: [
    {
      sender_name: null,
      from: "ask@acme.example",
      reply_to: null,
      footer: null,
      tz: "Asia/Tokyo",
      soft_bounces: null,
      daily_limit: null,
    },
    {
      sender_name: "Acme",
      from: null,
      reply_to: null,
      footer: "a\nb",
      tz: "Asia/Tokyo",
      soft_bounces: null,
      daily_limit: null,
    },
    {
      sender_name: "Acme",
      from: null,
      reply_to: null,
      footer: "a\nb",
      tz: "Asia/Tokyo",
      soft_bounces: null,
      daily_limit: null,
    },
  ],
  preview: [
    expect.stringMatching(/^Acme <surveys@localhost>$/),
    "Nora <nora@example.com>",
    "Que pensez-vous de nous ?",
    true,
    true,
    true,
  ],
  trends: [{ name: "Pro", where: { plan: "pro" } }],
  removed: true,
  projects: [{ name: "acme", throttle: null }],
};

it.each(["running", "not running"])(
  "when many surveys are listed, a server %s, then each comes once, page by page, and what is held goes on",
  async (running) => {
    const service = await openService({ ...world(), log: silentLog, publicUrl: null, rateLimit: null });
    const project = await service.store.write((tx) => addProject(tx, "acme"), { project: "all" });
    const wish = { channel: "email", autopilot: false, paused: false, properties: {} } as const;
    await service.store.write(
      async (tx) => {
        await tx.projects.setPaused(project.id, 1);
        const times = { createdAt: 1, scheduledAt: 1 };
        const { id: personId } = await tx.people.insert(project.id, { ...NOBODY, email: "a@x.co" });
        for (let index = 0; index < 1203; index += 1) {
          const tokens = { token: tx.token(), unsubscribeToken: tx.token() };
          const requestId = await tx.requests.insert(project.id, { ...wish, ...times, ...tokens, personId });
          const change = { state: "held", dueAt: null, sentAt: null, reason: "535", isAttempt: false } as const;
          if (index < 600) await settleClaim(tx, { project, requestId, claimer: null, claims: 0 }, change);
        }
      },
      { project: "all" },
    );
    await service.close();
    if (running === "running") await serve();
    const walk = (which: DeliveryState): Promise<Listed["rows"]> =>
      administer(world(), async (admin) => {
        const rows: Listed["rows"][number][] = [];
        for (let after: string | null | undefined; after !== null;) {
          const page: Listed = await admin({
            kind: "delivery.list",
            project: "acme",
            state: which,
            after: after ?? null,
            limit: 500,
          });
          rows.push(...page.rows);
          after = page.next;
        }
        return rows;
      });
    const held = await walk("held");
    expect([held.length, new Set(held.map(({ id }) => id)).size, held[0]]).toEqual([
      600,
      600,
      {
        id: "601",
        channel: "email",
        email: "a@x.co",
        phone_number: null,
        state: "held",
        reason: "535",
        due_at: 1,
        sent_at: null,
        attempts: 0,
      },
    ]);
    expect(await administer(world(), (admin) => admin({ kind: "delivery.resume" }))).toEqual({ released: 600 });
    expect([(await walk("held")).length, (await walk("scheduled")).length]).toEqual([0, 1203]);
    const {
      scheduled,
      paused_projects: paused,
      senders,
    } = await administer(world(), (admin) => admin({ kind: "delivery.status" }));
    expect([scheduled, paused, senders]).toEqual([1203, ["acme"], []]);
  },
);

it("when no server runs, then commands open the file themselves and free it again", async () => {
  expect(await administer(world(), everyCommand)).toEqual(EVERY_RESULT);
  expect((await administer(world(), (admin) => admin({ kind: "project.list" }))).length).toBe(1);
});

it("when a server runs, then commands open the file beside it", async () => {
  await serve();
  expect(await administer(world(), everyCommand)).toEqual(EVERY_RESULT);
});

const refused = (work: (admin: Admin) => Promise<unknown>): Promise<unknown> => administer(world(), work);

it.each(["running", "not running"])(
  "when a command names what is not there, a server %s, then it says so",
  async (running) => {
    if (running === "running") await serve();
    await expect(refused((admin) => admin({ kind: "key.list", project: "nix" }))).rejects.toThrow(DomainError);
    await refused((admin) => admin({ kind: "project.add", name: "acme" }));
    await expect(refused((admin) => admin({ kind: "project.add", name: "acme" }))).rejects.toThrow(
      'a project named "acme" already exists',
    );
    await expect(
      refused((admin) => admin({ kind: "key.revoke", confirm: true, project: "acme", id: "77" })),
    ).rejects.toThrow("project acme has no key 77");
    await expect(
      refused((admin) => admin({ kind: "trend.remove", confirm: true, project: "acme", id: "x" })),
    ).rejects.toThrow("project acme has no trend x");
    const wrong = {
      from: "a b@c.d",
      reply_to: "zoë@c.d",
      footer: "x".repeat(501),
      sender_name: "x".repeat(101),
      tz: "Mars",
    };
    await expect(refused((admin) => admin({ kind: "settings", project: "acme", ...wrong }))).rejects.toThrow(
      "from contains a space",
    );
    await expect(
      refused((admin) => admin({ kind: "survey.preview", project: "acme", email: "no@x.co", locale: null })),
    ).rejects.toThrow("no person found with email no@x.co");
  },
);

it("a call with a field that its operation doesn't have, or of the wrong type, changes nothing", async () => {
  await administer(world(), (admin) => admin({ kind: "project.add", name: "acme" }));
  const call = { kind: "trend.add", project: "acme", name: "Pro", where: { plan: "pro" } } as const;
  await expect(refused((admin) => admin({ ...call, wher: {} } as never))).rejects.toThrow("wher");
  await expect(refused((admin) => admin({ ...call, name: 5 } as never))).rejects.toThrow("name");
  expect(await refused((admin) => admin({ kind: "trend.list", project: "acme" }))).toEqual([]);
});

it("when a key is revoked, then the running server refuses it within 2 seconds", async () => {
  const { url } = await serve();
  const { key } = await administer(world(), (admin) => admin({ kind: "project.add", name: "acme" }));
  expect(await people(url, key)).toBe(200);
  await administer(world(), (admin) => admin({ kind: "key.revoke", confirm: true, project: "acme", id: "1" }));
  await expect.poll(() => people(url, key), { timeout: 4000 }).toBe(401);
});

it("when many commands open the file at once, then all are carried out", async () => {
  const names = Array.from({ length: 8 }, (_, index) => `project${index}`);
  await Promise.all(names.map((name) => administer(world(), (admin) => admin({ kind: "project.add", name }))));
  const projects = await administer(world(), (admin) => admin({ kind: "project.list" }));
  expect(projects.map(({ name }) => name).toSorted()).toEqual(names);
});

it("when the profile `local` is used without a server, then it works in process and due surveys go out before it ends", async () => {
  const local = await openLocal(world());
  const headers = { authorization: `Basic ${btoa(`${local.apiKey}:`)}`, "content-type": "application/json" };
  const url = `${local.baseUrl}/v1/people.json`;
  const sent = await local.transport({ method: "POST", url, headers, body: '{"email":"a@x.co"}' });
  expect(sent.status).toBe(201);
  await local.close();
  expect((await stat(path.join(state.folder, "outbox"))).isDirectory()).toBe(true);
  const keys = await administer(world(), (admin) => admin({ kind: "key.list", project: "default" }));
  expect(keys).toEqual([]);
});

it("when the profile `local` is used while a server that mails is stopped, then surveys wait for that", async () => {
  await (await openLocal(world())).close();
  const store = await openSqliteStore({ ...world(), file: world().dataFile });
  const ready = { state: "ready", reason: null, since: null, nextProbeAt: null } as const;
  await store.write((tx) => tx.senders.set({ name: "smtp", process: "gone", savedAt: tx.nowMs, state: ready }), {
    project: "all",
  });
  await store.close();
  const local = await openLocal(world());
  const headers = { authorization: `Basic ${btoa(`${local.apiKey}:`)}`, "content-type": "application/json" };
  const url = `${local.baseUrl}/v1/people.json`;
  const sent = await local.transport({ method: "POST", url, headers, body: '{"email":"a@x.co"}' });
  expect([sent.status, sent.headers["x-survey-delivery"]]).toEqual([201, undefined]);
  await local.close();
  const { scheduled } = await administer(world(), (admin) => admin({ kind: "delivery.status" }));
  expect([scheduled, existsSync(path.join(state.folder, "outbox"))]).toEqual([1, false]);
});

it("when the profile `local` is used while a server runs, then the command serves itself from the same file", async () => {
  const server = await serve();
  await administer(world(), (admin) => admin({ kind: "project.add", name: "default" }));
  const local = await openLocal(world());
  const headers = { authorization: `Basic ${btoa(`${local.apiKey}:`)}`, "content-type": "application/json" };
  const made = await local.transport({
    method: "POST",
    url: `${local.baseUrl}/v1/people.json`,
    headers,
    body: '{"email":"ä@x.co","send":false}',
  });
  expect(made.status).toBe(201);
  await local.transport({
    method: "POST",
    url: `${local.baseUrl}/v1/people.json`,
    headers,
    body: '{"email":"b@x.co","send":false}',
  });
  const page = await local.transport({ method: "GET", url: `${local.baseUrl}/v1/people.json?per_page=1`, headers });
  expect(page.headers.link?.startsWith(`<${local.baseUrl}/v1/people.json?`)).toBe(true);
  expect(await people(server.url, local.apiKey)).toBe(401);
  await local.close();
});
