import path from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { systemClock } from "../../../../src/runtime/clock.ts";
import { addDigest } from "../../../../src/service/domain/delivery/digests.ts";
import { runInside } from "../../../helpers/in-process.ts";
import { isLong } from "../../../helpers/long.ts";
import { startRawSmtp } from "../../../helpers/raw-smtp-stub.ts";
import { A_MINUTE_LATER } from "../../../helpers/run-cli.ts";
import { createMailing, type Mailing } from "./mailing.ts";

const HOOK = path.join(import.meta.dirname, "../../../helpers/kill-at-mark.cjs");
const WEEK = 7 * 86_400_000;

function createDue(): Promise<Mailing> {
  const due = new Date(Date.now() - 300_000);
  const schedule = { weekday: due.getUTCDay(), minute: due.getUTCHours() * 60 + due.getUTCMinutes(), zone: "UTC" };
  const clock = { ...systemClock, now: () => Date.now() - WEEK };
  return createMailing([], { clock, more: (tx, project) => addDigest(tx, project, "boss@example.org", schedule) });
}

const ENDS = [
  ["before-mark", "sent", 1],
  ["after-mark", "unknown", 0],
  ["after-dot", "unknown", 1],
  ["before-settle", "unknown", 1],
] as const;

it.each(isLong ? ENDS : ENDS.slice(2, 3))(
  "when serve is killed %s of a digest, then it is %s, and %i arrived in all",
  async (moment, state, arrived) => {
    const stub = await startRawSmtp({ replyDelayMs: 10 });
    const { dataFile, serve, remove } = await createDue();
    onTestFinished(async () => {
      await stub.stop();
      await remove();
    });
    const args = ["--smtp", `smtp://127.0.0.1:${stub.port}`];
    const env = { NODE_OPTIONS: `--require ${HOOK}`, KILL_AT: `${moment} ${stub.port} 1` };
    expect((await serve(args, env).ended).signal).toBe("SIGKILL");
    const again = serve(args, A_MINUTE_LATER);
    await again.url;
    const list = async (): Promise<Record<string, unknown>> => {
      const asked = ["service", "digest", "list", "--data", dataFile, "--json"];
      const { stdout } = await runInside({ args: asked, home: path.dirname(dataFile) });
      return (JSON.parse(stdout) as Record<string, unknown>[])[0] ?? {};
    };
    await expect.poll(async () => (await list())["state"], { timeout: 50_000, interval: 100 }).toBe(state);
    const { reason, next_at: next } = await list();
    expect([reason === "the service ended before a reply came", Number(next) * 1000 > Date.now()]).toEqual([
      state === "unknown",
      true,
    ]);
    again.child.kill("SIGTERM");
    expect((await again.ended).status).toBe(0);
    expect(stub.messages).toHaveLength(arrived);
  },
);
