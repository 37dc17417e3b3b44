import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { Webhook } from "standardwebhooks";
import type { WriteResult } from "../../../../src/client/client.ts";
import { createClient } from "../../../../src/client/create-client.ts";
import { InterruptedError } from "../../../../src/cli/errors/command-errors.ts";
import type { HttpResponse } from "../../../../src/contract/http.ts";
import { onAbort } from "../../../../src/runtime/on-abort.ts";
import { TIMEOUT_MS } from "../../../../src/service/webhook/transport.ts";
import type { JsonObject } from "../../../../src/contract/json.ts";
import { openEmbeddedService, type EmbeddedService } from "../../../helpers/embedded-service.ts";
import { fakeDeps, fixedClock, NOW, type FakeDeps, type FakeOptions } from "../../../helpers/fake-deps.ts";
import { runCommand } from "../../../helpers/run-command.ts";
import { answering, startHookReceiver } from "../../../helpers/hook-receiver.ts";

const INTERVAL_MS = 5000;

type Step = (at: (seconds: number) => void) => unknown;

/** Shared by all tests; each starts after the previous one's rows. */
let world: World;
beforeAll(async () => void (world = await openWorld()));
afterAll(() => world.service.close());

interface World {
  readonly service: EmbeddedService;
  readonly person: string;
  readonly time: { now: number };
}

function idOf(result: WriteResult): string {
  const id = result.kind === "answered" ? result.reply.json["id"] : null;
  return typeof id === "string" ? id : "";
}

async function openWorld(): Promise<World> {
  const time = { now: NOW };
  const clock = { ...fixedClock(), now: () => time.now * 1000 };
  const service = await openEmbeddedService({ clock });
  const added = await service.client.sendPerson({ email: "ada@example.com", send: false });
  return { service, time, person: idOf(added) };
}

/** Tails until the steps are used up, then interrupts. */
async function tail(
  { service, time }: World,
  words: readonly string[],
  steps: readonly Step[],
  fake: FakeOptions & {
    readonly wrap?: (exchange: typeof service.service.handle) => typeof service.service.handle;
    readonly ends?: string;
  } = {},
): Promise<FakeDeps> {
  const left = [...steps];
  const stopping = new AbortController();
  const clock = {
    ...fixedClock(),
    now: () => time.now * 1000,
    sleep: async (ms: number, signal?: AbortSignal): Promise<void> => {
      if (ms === TIMEOUT_MS)
        return new Promise((_, reject) => void onAbort(signal, () => reject(signal?.reason as Error)));
      time.now += ms / 1000;
      // Waits before a retry don't count as steps.
      if (ms !== INTERVAL_MS) return undefined;
      const step = left.shift();
      if (step === undefined) stopping.abort(new InterruptedError("SIGINT"));
      else await step((seconds) => void (time.now = seconds));
      signal?.throwIfAborted();
      return undefined;
    },
  };
  const transport = fake.wrap?.(service.service.handle) ?? service.service.handle;
  const { baseUrl, apiKey } = service;
  const client = createClient({ baseUrl, apiKey, transport, clock, policy: { retries: 0 } });
  const faked = fakeDeps({ ...fake, client });
  const deps = { ...faked.deps, clock, signal: stopping.signal };
  await expect(runCommand(deps, ["responses", "tail", ...words])).rejects.toThrow(
    fake.ends ?? new InterruptedError("SIGINT"),
  );
  return faked;
}

const add = async ({ service, person }: World, body: JsonObject): Promise<string> => {
  const added = await service.client.addResponse({ person, ...body });
  return idOf(added);
};
const edit = ({ service }: World, id: string, comment: string): Promise<unknown> =>
  service.client.raw({
    method: "PUT",
    url: `${service.baseUrl}/v1/survey_responses/${id}.json`,
    body: JSON.stringify({ comment }),
  });
const lines = (text: string): JsonObject[] =>
  text.trimEnd() === ""
    ? []
    : text
        .trimEnd()
        .split("\n")
        .map((line) => JSON.parse(line) as JsonObject);

describe("responses tail", () => {
  it("when answers come and are edited within one second, then each version is shown once, and nothing older", async () => {
    const old = await add(world, { score: 1, comment: "old" });
    const second = world.time.now + 100;
    const ids: string[] = [];
    const { out } = await tail(
      world,
      [],
      [
        async (at) => {
          at(second);
          ids.push(await add(world, { score: 9 }));
        },
        async (at) => {
          at(second);
          ids.push(await add(world, { score: 3, comment: "slow" }));
          await edit(world, ids[0] ?? "", "quick");
        },
        async () => void (await edit(world, old, "older")),
        () => undefined,
      ],
      { options: { output: "ndjson" } },
    );
    expect(lines(out()).map(({ id, score, comment }) => [id, score, comment])).toEqual([
      [ids[0], 9, null],
      [ids[0], 9, "quick"],
      [ids[1], 3, "slow"],
      [old, 1, "older"],
    ]);
  });

  it("when more answers come between two looks than a page holds, then none is missed", async () => {
    const sent: string[] = [];
    const { out } = await tail(
      world,
      [],
      [
        async () => {
          for (let n = 0; n < 130; n += 1) sent.push(await add(world, { score: n % 11 }));
        },
      ],
      { options: { output: "ndjson" } },
    );
    expect(lines(out()).map(({ id }) => id)).toEqual(sent);
  });

  it("when the service is away for a while, then it says so once and goes on where it was", async () => {
    const state = { isAway: false };
    const wrap = (exchange: EmbeddedService["service"]["handle"]) => async (request: Parameters<typeof exchange>[0]) =>
      state.isAway ? ({ status: 503, headers: {}, body: "{}" } satisfies HttpResponse) : exchange(request);
    const { out, err } = await tail(
      world,
      [],
      [
        () => void (state.isAway = true),
        async () => void (await add(world, { score: 10 })),
        () => void (state.isAway = false),
      ],
      { options: { output: "json" }, wrap },
    );
    expect([(JSON.parse(out()) as JsonObject[]).map(({ score }) => score), err()]).toEqual([
      [10],
      'warning: the service answered 503 "{}"; asking again every 5 s\nnote: the service answers again\n',
    ]);
  });

  it("when a terminal shows them, then each row is there at once, and later ones have room", async () => {
    const { out, err } = await tail(
      world,
      [],
      [
        async () => void (await add(world, { score: 9 })),
        async () => void (await add(world, { score: 2, comment: "The invoice was wrong, twice" })),
      ],
      { width: 100 },
    );
    expect(`${out()}${err()}`).toMatchInlineSnapshot(`
      "ID   SCORE  PERSON EMAIL              COMMENT                                    CREATED
      137      9  ada@example.com                                                      2026-02-01 12:02:30
      138      2  ada@example.com           The invoice was wrong, twice               2026-02-01 12:02:35
      Waiting for answers. Press Ctrl-C to stop.
      "
    `);
  });

  it("when the first look gets no answer, then it ends: the address may be wrong", async () => {
    const down: HttpResponse = { status: 503, headers: {}, body: "{}" };
    const { err } = await tail(world, ["--since", String(NOW)], [], {
      wrap: () => async () => down,
      ends: 'the service answered 503 "{}"',
    });
    expect(err()).toBe("");
  });

  it("when the service asks to wait longer than --max-wait, then it ends", async () => {
    const state = { isFull: false };
    const full: HttpResponse = { status: 429, headers: { "retry-after": "301" }, body: "" };
    const wrap = (exchange: EmbeddedService["service"]["handle"]) => async (request: Parameters<typeof exchange>[0]) =>
      state.isFull ? full : exchange(request);
    const { err } = await tail(world, [], [() => void (state.isFull = true)], { wrap, ends: "asks to wait 301 s" });
    expect(err()).toBe("");
  });
});

describe("responses tail --forward-to", () => {
  it("when answers come, then the URL gets what a webhook brings, signed, and is tried again", async () => {
    const receiver = await startHookReceiver({ "/hook": answering(500, 200) });
    onTestFinished(receiver.close);
    const secret = `whsec_${Buffer.from("k".repeat(32)).toString("base64")}`;
    const id = await add(world, { score: 5 });
    const { out, err } = await tail(
      world,
      ["--forward-to", `${receiver.url}/hook`, "--secret", secret],
      [
        async () => void (await add(world, { score: 9, comment: "née" })),
        async () => void (await edit(world, id, "changed")),
      ],
      { options: { output: "ndjson" } },
    );
    const got = receiver.on("/hook");
    const events = got.map(({ body }) => JSON.parse(body) as JsonObject);
    for (const { headers, body } of got) {
      const at = new Date(Number(headers["webhook-timestamp"]) * 1000);
      expect(headers["webhook-signature"]).toBe(new Webhook(secret).sign(String(headers["webhook-id"]), at, body));
    }
    const rows = lines(out());
    const ids = rows.flatMap(({ response_id: each }) => (typeof each === "string" ? each : []));
    const expand = { expand: ["person", "notes"] };
    const event = async (n: number, type: string): Promise<JsonObject> => ({
      event_type: type,
      event_id: rows[n]?.["event_id"] ?? null,
      event_data: (await world.service.client.getResponse(ids[n] ?? "", expand)).json,
    });
    const created = await event(0, "survey_response.created");
    expect(events).toEqual([created, created, await event(1, "survey_response.updated")]);
    expect(rows.map(({ status, attempts, text }) => [status, attempts, text])).toEqual([
      [200, 2, ""],
      [200, 1, ""],
    ]);
    expect(err()).toBe("");
  });

  it("when the URL is one that webhooks never reach, then it is refused before anything is asked", async () => {
    const { deps } = fakeDeps();
    await expect(runCommand(deps, ["responses", "tail", "--forward-to", "http://169.254.169.254/"])).rejects.toThrow(
      "--forward-to: http://169.254.169.254/ is not allowed: 169.254.169.254",
    );
  });
});
