import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { systemClock } from "../../../../src/runtime/clock.ts";
import { silentLog } from "../../../../src/runtime/log.ts";
import { systemRandom } from "../../../../src/runtime/random.ts";
import { removeProject } from "../../../../src/service/domain/projects/project-removal.ts";
import { databaseOf } from "../../../helpers/postgres.ts";
import { openTestService, type TestService } from "../../../helpers/test-service.ts";

const URL = "https://survey.example.com";

let folder: string;
let service: TestService;
let giveBack: () => void;
let reopen: () => Promise<void>;
beforeEach(async () => {
  folder = await mkdtemp(path.join(tmpdir(), "surveyctl-projects-"));
  const database = await databaseOf(null);
  giveBack = database?.giveBack ?? (() => undefined);
  const place = database === null ? {} : { database: { url: database.url, mayMigrate: true } };
  const parts = { clock: systemClock, random: systemRandom, log: silentLog, publicUrl: URL, rateLimit: null };
  const open = (): Promise<TestService> =>
    openTestService({
      ...parts,
      ...place,
      dataFile: path.join(folder, "survey.db"),
      outbox: path.join(folder, "outbox"),
    });
  service = await open();
  reopen = async () => {
    await service.close();
    service = await open();
  };
});
afterEach(async () => {
  await service.close();
  giveBack();
  await rm(folder, { recursive: true, force: true });
});

/** Adds a project with a row in every project table. */
async function fill(name: string): Promise<string> {
  const project = name;
  const { admin } = service;
  const { key } = await admin({ kind: "project.add", name });
  const call = async (method: string, at: string, body: object): Promise<Record<string, string>> => {
    const headers = { authorization: `Basic ${btoa(`${key}:`)}`, "content-type": "application/json" };
    const sent = { method, url: `${URL}/v1/${at}.json`, headers, body: JSON.stringify(body) };
    const answer = await service.handle({ ...sent, from: "127.0.0.1" });
    expect([at, answer.status < 300]).toEqual([at, true]);
    return JSON.parse(answer.body as string) as Record<string, string>;
  };
  await admin({ kind: "trend.add", project, name: "Pro", where: { plan: "pro" } });
  await admin({ kind: "share.add", project, name: "Board" });
  await admin({ kind: "link.add", project, name: "Shop" });
  await admin({ kind: "question.add", project, text: "Why?", type: "free_response" });
  await admin({ kind: "digest.add", project, target: "boss@example.com", every: "monday" });
  await admin({ kind: "settings", project, sender_name: "Acme" });
  const hook = { url: "http://127.0.0.1:9/x", events: "survey_response.created", allow_private: true };
  await admin({ kind: "webhook.add", project, ...hook });
  const ada = await call("POST", "people", { email: "ada@example.com", phone_number: "+14155550123" });
  await call("POST", "people", { email: "bob@example.com", delay: 86_400, properties: { plan: "pro" } });
  const given = { person: ada["id"], score: 9, comment: "Good", person_properties: { plan: "pro" } };
  const { id } = await call("POST", "survey_responses", given);
  await call("PUT", `survey_responses/${id}`, { tags: ["vip"], notes: "Call back" });
  await call("POST", "autopilot/email/memberships", { person_email: "cara@example.com" });
  await call("POST", "people", { email: "dan@example.com", send: false });
  await call("POST", "unsubscribes", { person_email: "dan@example.com" });
  await call("POST", "people", { email: "dan@example.com" });
  await admin({ kind: "erase", project, email: "bob@example.com", confirm: true });
  await call("POST", "people", { email: "eve@example.com", delay: 86_400 });
  return key;
}

type Dump = Readonly<Record<string, readonly object[]>>;

/** A project's rows by table, without the operation log, which outlives it. */
async function rowsOf(id: string): Promise<Dump> {
  return service.store.read(async (tx) => {
    const found: Record<string, object[]> = {};
    for (const table of tx.tables.names) {
      const rows = await tx.tables.page(table, null, 100_000);
      const own = rows.filter((row) => String(table === "projects" ? row["id"] : row["project_id"]) === id);
      if (own.length > 0 && table !== "operation_log") found[table] = own;
    }
    return found;
  });
}

const outbox = () => readdir(path.join(folder, "outbox")).catch(() => []);
const names = async () => (await service.admin({ kind: "project.list" })).map(({ id, name }) => [id, name]);
const remove = (id: string) => service.admin({ kind: "project.remove", id, confirm: true });

it("leaves no row and no message of the project, and everything of the others", async () => {
  await fill("first");
  const key = await fill("acme");
  service.start();
  await service.finishDue();
  expect(new Set((await outbox()).map((file) => file.split("-")[0]))).toEqual(new Set(["1", "2"]));
  const [first, acme] = [await rowsOf("1"), await rowsOf("2")];
  expect(Object.keys(acme)).toEqual(
    expect.arrayContaining(["people", "messages", "responses", "digests", "suppressions"]),
  );

  await expect(service.admin({ kind: "project.remove", id: "acme" })).rejects.toThrow(
    "Remove project acme with 4 people, 1 response, 1 key, 2 pending surveys? This can't be undone.",
  );
  expect(await rowsOf("2")).toEqual(acme);
  const counts = { people: 4, responses: 1, keys: 1, surveys: 2 };
  expect(await remove("acme")).toEqual({ id: "2", name: "acme", ...counts });

  expect(await rowsOf("2")).toEqual({});
  expect((await outbox()).filter((file) => !file.startsWith("1-"))).toEqual([]);
  // Webhook events are still being delivered.
  const others = Object.entries(first).filter(([table]) => !/^(?:project_state|webhook)/.test(table));
  expect(await rowsOf("1")).toMatchObject(Object.fromEntries(others));
  expect(await names()).toEqual([["1", "first"]]);
  expect(await service.store.check()).toEqual([]);
  const lines = await service.store.read((tx) =>
    tx.operationLog.list(2, { since: null, by: null, operation: null, before: null, limit: 1 }),
  );
  expect(lines).toMatchObject([
    { project: "acme", operation: "project.remove", what: "2", result: JSON.stringify(counts) },
  ]);
  const headers = { authorization: `Basic ${btoa(`${key}:`)}` };
  const asked = { method: "GET", url: `${URL}/v1/people.json`, headers, from: "127.0.0.1" };
  await expect.poll(async () => (await service.handle(asked)).status, { timeout: 5000 }).toBe(401);
});

it("refuses the project's key right after the removal, although the server still remembers it", async () => {
  await service.admin({ kind: "project.add", name: "first" });
  const { id, key } = await service.admin({ kind: "project.add", name: "acme" });
  const headers = { authorization: `Basic ${btoa(`${key}:`)}`, "content-type": "application/json" };
  const send = (method: string, body?: string) =>
    service.handle({ method, url: `${URL}/v1/people.json`, headers, from: "127.0.0.1", ...(body && { body }) });
  expect((await send("GET")).status).toBe(200);
  await remove("acme");
  const refused = await send("POST", JSON.stringify({ email: "ada@example.com" }));
  expect([refused.status, refused.headers["www-authenticate"]]).toEqual([401, expect.stringContaining("Basic")]);
  expect(await rowsOf(id)).toEqual({});
});

it("never gives its id to another project, and its name only to a new one", async () => {
  await fill("first");
  for (const id of ["2", "3"]) {
    await service.admin({ kind: "project.add", name: "acme" });
    expect(await names()).toEqual([
      ["1", "first"],
      [id, "acme"],
    ]);
    await remove("acme");
  }
});

it("is refused for the last project, also while another is being removed", async () => {
  await fill("first");
  await expect(remove("first")).rejects.toThrow("first is the last project, which must stay");
  await expect(remove("nix")).rejects.toThrow('there is no project "nix"');
  await fill("acme");
  await remove("acme");
  await expect(remove("first")).rejects.toThrow("first is the last project, which must stay");
});

it("is finished by the same command, or the next start, once it has begun", async () => {
  await fill("first");
  await fill("acme");
  const { store } = service;
  const nobody = { email: null, name: null, phoneNumber: null, createdAt: 1, lastSentAt: null };
  await store.write(
    async (tx) => {
      for (let at = 0; at < 3000; at += 1) await tx.people.insert(2, nobody);
    },
    { project: 2 },
  );
  // The operation's first commit, before its steps.
  await store.write(
    async (tx) => {
      const project = (await tx.projects.byName("acme"))!;
      await removeProject(tx, project);
      const deed = { operation: "project.remove", what: "2", result: null };
      tx.operationLog.add([project], { key: null, name: "test" }, [deed], "all");
    },
    { project: "all" },
  );
  expect(await names()).toEqual([["1", "first"]]);
  expect((await rowsOf("2"))["people"]?.length).toBeGreaterThan(1000);
  await expect(remove("first")).rejects.toThrow("first is the last project, which must stay");
  await reopen();
  expect(await remove("acme")).toMatchObject({ id: "2", name: "acme", people: 0 });
  expect(await rowsOf("2")).toEqual({});
});

it("a rename keeps ids, keys and links, and refuses a name that is taken", async () => {
  const key = await fill("first");
  const before = await rowsOf("1");
  expect(await service.admin({ kind: "project.rename", id: "first", name: "acme" })).toEqual({
    id: "1",
    name: "acme",
    previous: "first",
  });
  const { projects: _projects, project_state: _state, ...rows } = before;
  expect(await rowsOf("1")).toMatchObject(rows);
  const headers = { authorization: `Basic ${btoa(`${key}:`)}` };
  const asked = { method: "GET", url: `${URL}/v1/people.json`, headers, from: "127.0.0.1" };
  expect((await service.handle(asked)).status).toBe(200);
  expect(await service.admin({ kind: "project.add", name: " other  " })).toMatchObject({ name: "other" });
  await expect(service.admin({ kind: "project.add", name: "other " })).rejects.toThrow(
    'a project named "other" already exists',
  );
  await expect(service.admin({ kind: "project.rename", id: "other", name: " acme" })).rejects.toThrow(
    'a project named "acme" already exists',
  );
  expect(await service.admin({ kind: "project.rename", id: "other", name: "  third " })).toMatchObject({
    name: "third",
  });
  await service.admin({ kind: "project.rename", id: "third", name: "other" });
  await expect(service.admin({ kind: "project.rename", id: "other", name: "acme" })).rejects.toThrow(
    'a project named "acme" already exists',
  );
  await expect(service.admin({ kind: "project.rename", id: "first", name: "x" })).rejects.toThrow(
    "there is no project",
  );
  await expect(service.admin({ kind: "project.rename", id: "acme", name: " " })).rejects.toThrow("name can't be blank");
});
