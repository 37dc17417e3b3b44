/** An operation and its log line are stored together or not at all, even if the server is killed. */
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, it, onTestFinished } from "vitest";
import { size } from "../../helpers/long.ts";
import { startServeProcess } from "../../helpers/serve.ts";

const HOOK = path.join(import.meta.dirname, "../../helpers/kill-before-answer.cjs");
const ANSWERED = 5;
const PATIENCE_MS = size(240_000, 1_200_000);

interface Kept {
  readonly trends: number;
  readonly lines: number;
}

async function addUntilKilled(env: Record<string, string>, killAfterMs: number | null): Promise<[number, Kept]> {
  const service = await startServeProcess({ env });
  onTestFinished(async () => void (await service.stop()));
  const there = ["--columns", "key", ...service.place];
  const { stdout } = await service.run(["service", "key", "add", "--admin", ...there]);
  const authorization = `Basic ${btoa(`${stdout.trim().split("\t").at(-1)}:`)}`;
  if (killAfterMs !== null) void sleep(killAfterMs).then(() => process.kill(service.pid, "SIGKILL"));
  let answered = 0;
  for (let isUp = true; isUp; answered += isUp ? 1 : 0) {
    const body = JSON.stringify({ name: `Trend ${answered}`, where: { n: String(answered) } });
    const sent = { method: "POST", headers: { authorization, "content-type": "application/json" }, body };
    const answer = await fetch(`${service.baseUrl}/v1/operations/trend.add`, sent).catch(() => null);
    isUp = answer?.status === 200;
  }
  const count = async (...words: readonly string[]): Promise<number> =>
    Number((await service.run(["service", ...words, "--count", ...service.place])).stdout);
  return [answered, { trends: await count("trend", "list"), lines: await count("log", "--operation", "trend.add") }];
}

it(
  "killed after the change and before the answer, it has kept both",
  async () => {
    const env = { NODE_OPTIONS: `--require ${HOOK}`, KILL_ANSWER: String(ANSWERED + 1) };
    expect(await addUntilKilled(env, null)).toEqual([ANSWERED, { trends: ANSWERED + 1, lines: ANSWERED + 1 }]);
  },
  PATIENCE_MS,
);

it(
  "killed at any time, it has kept as many lines as changes, and each that was answered",
  async () => {
    for (let round = 0; round < size(1, 20); round += 1) {
      const [answered, { trends, lines }] = await addUntilKilled({}, 100 + 37 * round);
      expect([lines, trends >= answered, trends <= answered + 1]).toEqual([trends, true, true]);
    }
  },
  PATIENCE_MS,
);
