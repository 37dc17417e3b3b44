import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, expect, test } from "vitest";
import { systemClock } from "../../../src/runtime/clock.ts";
import { systemRandom } from "../../../src/runtime/random.ts";
import { sendPerson } from "../../../src/service/domain/people/people.ts";
import { addWebhook } from "../../../src/service/domain/webhooks/webhooks.ts";
import { WEBHOOK_EVENTS } from "../../../src/service/domain/webhooks/webhook.ts";
import { ensureFirstKey } from "../../../src/service/first-project.ts";
import { openSqliteStore } from "../../../src/service/store/sqlite/open-sqlite-store.ts";
import { answering, type HookPlan, startHookReceiver } from "../../helpers/hook-receiver.ts";
import { startInside } from "../../helpers/in-process.ts";
import { size } from "../../helpers/long.ts";
import { until } from "../../helpers/process-list.ts";
import { startProgram } from "../../helpers/run-cli.ts";
import { sendInput } from "../domain/fixture.ts";
import { openHookFixture, SECRET } from "./fixture.ts";

const KILLS = size(1, 20);
const ANSWERS = 20;
const EVENTS = size(200, 10_000);
const folder = await mkdtemp(path.join(tmpdir(), "surveyctl-webhooks-"));
afterAll(() => rm(folder, { recursive: true, force: true }));

async function prepare(file: string, url: string, apiKey: string): Promise<string> {
  const store = await openSqliteStore({ file, clock: systemClock });
  await ensureFirstKey(store, systemRandom, apiKey);
  const personId = await store.write(
    async (tx) => {
      const project = (await tx.projects.byName("default"))!;
      const given = { signatureHeader: "X-Webhook-Signature", allowPrivate: true, insecureHttp: false, scores: null };
      const webhook = { ...given, url, secret: SECRET, events: WEBHOOK_EVENTS, format: "json" } as const;
      await addWebhook(tx, project, webhook, []);
      const input = sendInput({ email: "ada@example.com", send: false });
      return (await sendPerson(tx, project, input)).person.id;
    },
    { project: "all" },
  );
  await store.close();
  return personId;
}

/** Slow enough that a kill interrupts attempts in flight. */
const slow: HookPlan = (n, response, request) => void setTimeout(() => answering(200)(n, response, request), 20);

test("when the program is killed, then every event arrives, with the same id and the same bytes", async () => {
  const receiver = await startHookReceiver({ "/hook": slow });
  const [file, apiKey] = [path.join(folder, "kill.db"), "test-key-of-the-service"];
  const personId = await prepare(file, `${receiver.url}/hook`, apiKey);
  const args = ["serve", "--data", file, "--port", "0"];
  const command = { args, home: folder, env: { SURVEYCTL_API_KEY: apiKey } };
  const acknowledged: string[] = [];
  for (let round = 0; round <= KILLS; round += 1) {
    const victim = round < KILLS ? startProgram(command) : null;
    const running = victim ?? startInside(command);
    const [, url = ""] = await running.saying(/^listening on (http\S+)$/m);
    const post = async (): Promise<void> => {
      const response = await fetch(`${url}/v1/survey_responses.json`, {
        method: "POST",
        headers: { authorization: `Basic ${btoa(`${apiKey}:`)}`, "content-type": "application/json" },
        body: JSON.stringify({ person: personId, score: 9 }),
      });
      acknowledged.push(((await response.json()) as { id: string }).id);
    };
    await Promise.all(Array.from({ length: ANSWERS }, post));
    if (victim === null) await until(() => idsOf(receiver.on("/hook")).size === acknowledged.length);
    if (victim === null) running.child.kill("SIGTERM");
    else victim.child.kill("SIGKILL");
    await running.ended;
  }
  const received = receiver.on("/hook");
  expect([...idsOf(received)].toSorted()).toEqual(acknowledged.toSorted());
  const bodies = new Map<string, Set<string>>();
  for (const { headers, body } of received) {
    const id = String(headers["webhook-id"]);
    bodies.set(id, (bodies.get(id) ?? new Set()).add(body));
  }
  expect(bodies.size).toBe(acknowledged.length);
  expect([...bodies.values()].filter((some) => some.size > 1)).toEqual([]);
  await receiver.close();
}, 120_000);

function idsOf(hooks: readonly { readonly body: string }[]): Set<string> {
  return new Set(hooks.map(({ body }) => (JSON.parse(body) as { event_data: { id: string } }).event_data.id));
}

test(`when ${EVENTS} events wait, then all of them go, and memory stays flat`, async () => {
  const receiver = await startHookReceiver();
  const file = path.join(folder, "many.db");
  const { add, answer, dispatcher, store, project, close } = await openHookFixture(systemClock, { file });
  const hook = await add(`${receiver.url}/hook`);
  for (let left = EVENTS; left > 0; left -= 500)
    await Promise.all(Array.from({ length: Math.min(left, 500) }, () => answer()));
  const before = process.memoryUsage().rss;
  dispatcher.start();
  const counts = () => store.read((tx) => tx.webhooks.counts(project.id, hook.id));
  await expect.poll(counts, { timeout: 100_000 }).toEqual({ waiting: 0, delivered: EVENTS, failed: 0 });
  expect((process.memoryUsage().rss - before) / 2 ** 20).toBeLessThan(100);
  await close();
  await receiver.close();
}, 120_000);
