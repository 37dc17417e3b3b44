import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import type { Person, SentPerson } from "../../../src/contract/resources.ts";
import { addKey, revokeKey } from "../../../src/service/domain/projects/projects.ts";
import { runInside } from "../../helpers/in-process.ts";
import { isLong, size } from "../../helpers/long.ts";
import { startProgram } from "../../helpers/run-cli.ts";
import { seededRandom } from "../../helpers/seeded-random.ts";
import { ask, type Fleet, newPlace, type Place, startFleet } from "./fleet.ts";

const WRITES = size(900, 50_000);
const WRITERS = 12;
const READ_BACK = size(60, 10_000);
const RACERS = size(20, 200);
const OTHER_KEY = "test-key-that-is-revoked-soon";
const PAGE = 100;

const state: { fleet?: Fleet } = {};
const fleet = (): Fleet => state.fleet!;
const urlOf = (at: number): string => fleet().members[at % fleet().members.length]!.url;

interface Row {
  readonly id: string;
  readonly updated_at: number;
}

const list = async (target: string): Promise<{ readonly rows: readonly Row[]; readonly next: string | null }> => {
  const { status, headers, json } = await ask(urlOf(2), "GET", target);
  if (status !== 200) throw new Error(`${target}: ${status} ${JSON.stringify(json)}`);
  const next = /<([^>]*)>; rel="next"/.exec(String(headers["link"] ?? ""))?.[1] ?? null;
  const { pathname, search } = new URL(next ?? "http://x.test");
  return { rows: json as Row[], next: next === null ? null : pathname + search };
};

async function writeMany(isOver: { value: boolean }): Promise<number> {
  const chance = seededRandom(7);
  const count = { writes: 0, names: 0 };
  const must = async (at: number, method: string, target: string, body: unknown): Promise<Record<string, unknown>> => {
    const { status, json } = await ask(urlOf(at), method, target, body);
    if (status >= 300) throw new Error(`${method} ${target}: ${status} ${JSON.stringify(json)}`);
    count.writes += 1;
    return json as Record<string, unknown>;
  };
  const writer = async (_: unknown, own: number): Promise<void> => {
    for (let at = own; count.writes < WRITES; at += 1) {
      const email = `w${(count.names += 1)}@x.co`;
      const person = await must(at, "POST", "/v1/people.json", { email, send: false });
      const response = await must(at + 1, "POST", "/v1/survey_responses.json", { person: person["id"], score: 9 });
      // Uses a different process than the one that created the response.
      if (chance() < 0.5)
        await must(at + 2, "PUT", `/v1/survey_responses/${String(response["id"])}.json`, { score: 3 });
    }
  };
  // Also after a failure, or the readers would never end.
  await Promise.all(Array.from({ length: WRITERS }, writer)).finally(() => {
    isOver.value = true;
  });
  return count.writes;
}

/** Reads people by cursor. The last page has no next link, so it is read again as it grows. */
async function walkCursor(isOver: { readonly value: boolean }): Promise<string[]> {
  const seen: string[] = [];
  for (let at = { target: `/v1/people.json?per_page=${PAGE}`, taken: 0 }; ;) {
    const wasOver = isOver.value;
    const { rows, next } = await list(at.target);
    seen.push(...rows.slice(at.taken).map(({ id }) => id));
    if (next === null && wasOver) return seen;
    at = next === null ? { ...at, taken: rows.length } : { target: next, taken: 0 };
    if (next === null) await sleep(100);
  }
}

const newestAt = async (): Promise<number> => {
  const { rows } = await list("/v1/survey_responses.json?order=desc:updated_at&per_page=1");
  return rows[0]?.updated_at ?? 0;
};

async function walkUpdates(isOver: { readonly value: boolean }): Promise<Map<string, number>> {
  const seen = new Map<string, number>();
  let since = 0;
  for (;;) {
    const wasOver = isOver.value;
    // A project's timestamps never decrease, so seconds before the newest one are complete.
    const until = (await newestAt()) - (wasOver ? 0 : 1);
    const window = `/v1/survey_responses.json?order=asc:updated_at&per_page=${PAGE}&updated_since=${since}&updated_until=${until}`;
    // A response updated during the walk leaves the window and shifts the ones after it.
    for (let isStable = false; !isStable;) {
      isStable = true;
      for (let page = 1; ; page += 1) {
        const { rows } = await list(`${window}&page=${page}`);
        for (const { id, updated_at: at } of rows) {
          if ((seen.get(id) ?? 0) < at) isStable = false;
          seen.set(id, at);
        }
        if (rows.length < PAGE) break;
      }
    }
    if (wasOver) return seen;
    since = until + 1;
    await sleep(200);
  }
}

const statuses = () =>
  Promise.all(
    [0, 1, 2].map(async (at) => (await ask(urlOf(at), "GET", "/v1/people.json", undefined, OTHER_KEY)).status),
  );

describe("three processes on the same data", () => {
  beforeAll(async () => {
    state.fleet = await startFleet(await newPlace(), { count: 3 });
  });
  afterAll(async () => {
    await fleet().stop();
    await fleet().place.remove();
  });

  it(`when all three write ${WRITES} times while others read on, then nobody is missed and nobody comes twice`, async () => {
    const isOver = { value: false };
    const [writes, people, updates] = await Promise.all([writeMany(isOver), walkCursor(isOver), walkUpdates(isOver)]);
    const stored = await fleet().withStore((store) =>
      store.read(async (tx) => {
        const all = { since: null, until: null, after: null, limit: 1_000_000 };
        return (await tx.people.list(1, all)).map((row) => (JSON.parse(row) as Person).id);
      }),
    );
    const responses = new Map<string, number>();
    for (let page = 1; ; page += 1) {
      const { rows } = await list(`/v1/survey_responses.json?per_page=${PAGE}&page=${page}`);
      for (const { id, updated_at: at } of rows) responses.set(id, at);
      if (rows.length < PAGE) break;
    }
    const seen = new Set(people);
    const late = [...responses].filter(([id, at]) => updates.get(id) !== at);
    const figures = { writes, people: stored.length, responses: responses.size };
    if (process.env.SHOW_FIGURES === "1") console.log(figures);
    expect(writes).toBeGreaterThanOrEqual(WRITES);
    expect({ missed: stored.filter((id) => !seen.has(id)), twice: people.length - seen.size }).toEqual({
      missed: [],
      twice: 0,
    });
    expect([late, updates.size]).toEqual([[], responses.size]);
  });

  it(`when one saves somebody, then the next shows them at once, ${READ_BACK} times`, async () => {
    for (let at = 0; at < READ_BACK; at += 1) {
      const email = `b${at}@x.co`;
      await ask(urlOf(at), "POST", "/v1/people.json", { email, send: false });
      const { json } = await ask(urlOf(at + 1), "GET", `/v1/people.json?email=${email}`);
      expect((json as Person[]).map((person) => person.email)).toEqual([email]);
    }
  });

  it(`when all are sent one new address, ${RACERS} times at once, then there is one person and one survey`, async () => {
    const body = { email: "same@x.co" };
    const answers = await Promise.all(
      Array.from({ length: RACERS }, (_, at) => ask(urlOf(at), "POST", "/v1/people.json", body)),
    );
    const found = answers.map(({ json }) => json as SentPerson);
    expect(new Set(found.map(({ id }) => id)).size).toBe(1);
    expect(found.filter((person) => person.survey_scheduled_at !== null)).toHaveLength(1);
  });

  it("when a link is made beside them, then it leads to the one that started last", async () => {
    const args = ["service", "link", "add", "Checkout", ...fleet().place.args, "--json"];
    const { stdout } = await runInside({ args, home: fleet().folder });
    expect((JSON.parse(stdout) as { readonly url: string }).url).toMatch(new RegExp(`^${urlOf(2)}/l/`));
  });

  it("when the health of the data is asked, then it is ready while a service delivers from it", async () => {
    const health = ({ args }: Place): ReturnType<typeof runInside> =>
      runInside({ args: ["service", "health", ...args], home: fleet().folder });
    expect(await health(fleet().place)).toMatchObject({ status: 0, stdout: "status\tready\n", stderr: "" });
    const unserved = await newPlace();
    onTestFinished(unserved.remove);
    await (await unserved.open()).close();
    const { status, stdout, stderr } = await health(unserved);
    expect([status, stdout]).toEqual([1, ""]);
    expect(stderr).toMatch(/^error: the service of \S+ is not running\n$/);
  });

  it("when a key is revoked through one, then the others refuse it within two seconds", async () => {
    const { id } = await fleet().withStore((store) =>
      store.write(async (tx) => addKey(tx, (await tx.projects.byName("default"))!, OTHER_KEY), { project: "all" }),
    );
    expect(await statuses()).toEqual([200, 200, 200]);
    await fleet().withStore((store) =>
      store.write(async (tx) => revokeKey(tx, (await tx.projects.byName("default"))!, String(id)), { project: "all" }),
    );
    await sleep(2000);
    expect(await statuses()).toEqual([401, 401, 401]);
  });
});

describe.runIf(isLong)("a first start", () => {
  it("when four processes start at once on nothing, then all serve, and one says the only key", async () => {
    const place = await newPlace();
    onTestFinished(place.remove);
    const args = ["serve", ...place.args, "--outbox", "outbox", "--port", "0", "--log-format", "text"];
    const home = await mkdtemp(path.join(tmpdir(), "surveyctl-fleet-"));
    const all = Array.from({ length: 4 }, () => startProgram({ args, home }));
    const urls = await Promise.all(all.map(async (one) => (await one.saying(/^listening on (http\S+)$/m))[1]));
    for (const { child } of all) child.kill("SIGTERM");
    const ended = await Promise.all(all.map((each) => each.ended));
    const keys = ended.flatMap(({ stderr }) => /shown once:\s+(\S+)/.exec(stderr)?.[1] ?? []);
    expect([new Set(urls).size, ended.map(({ status }) => status), keys.length]).toEqual([4, [0, 0, 0, 0], 1]);
    const again = startProgram({ args, home, env: { SURVEYCTL_API_KEY: keys[0] ?? "" } });
    const [, url = ""] = await again.saying(/^listening on (http\S+)$/m);
    expect((await ask(url, "GET", "/v1/people.json", undefined, keys[0])).status).toBe(200);
    again.child.kill("SIGTERM");
    expect((await again.ended).status).toBe(0);
    await rm(home, { recursive: true });
  });
});
