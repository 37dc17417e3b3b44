import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { expect, test } from "vitest";
import { systemClock } from "../../../../src/runtime/clock.ts";
import { sendPerson } from "../../../../src/service/domain/people/people.ts";
import type { Store } from "../../../../src/service/domain/ports.ts";
import { addProject } from "../../../../src/service/domain/projects/projects.ts";
import { openSqliteStore } from "../../../../src/service/store/sqlite/open-sqlite-store.ts";
import { type HookPlan, startHookReceiver } from "../../../helpers/hook-receiver.ts";
import { size } from "../../../helpers/long.ts";
import { A_MINUTE_LATER, startProgram, type Running } from "../../../helpers/run-cli.ts";
import { sendInput } from "../../domain/fixture.ts";
import { countWaiting, listAll } from "../once/mailing.ts";

const KILLS = size(1, 20);
const PEOPLE = KILLS * 4;

test(
  "when serve is killed while a gateway answers, then nobody is texted twice, and who may be is unknown",
  async () => {
    const folder = await mkdtemp(path.join(tmpdir(), "surveyctl-texts-"));
    const file = path.join(folder, "survey.db");
    const withStore = async <Result>(work: (store: Store) => Promise<Result>): Promise<Result> => {
      const store = await openSqliteStore({ file, clock: systemClock });
      try {
        return await work(store);
      } finally {
        await store.close();
      }
    };
    const numbers = Array.from({ length: PEOPLE }, (_, at) => `+4917012345${String(at).padStart(3, "0")}`);
    await withStore((store) =>
      store.write(
        async (tx) => {
          const project = await addProject(tx, "default");
          for (const phoneNumber of numbers) await sendPerson(tx, project, sendInput({ phoneNumber, channel: "sms" }));
        },
        { project: "all" },
      ),
    );
    const state: { running: Running | null; kills: number } = { running: null, kills: 0 };
    // On every third message, kills the server, alternating between before the response and right after it.
    const plan: HookPlan = (n, response) => {
      const isFatal = n % 3 === 0 && state.kills < KILLS;
      const kill = (): void => void (isFatal && state.running?.child.kill("SIGKILL"));
      if (isFatal) state.kills += 1;
      if (state.kills % 2 === 1) kill();
      response.end("{}", () => void (state.kills % 2 === 0 && kill()));
    };
    const gateway = await startHookReceiver({ "/sms": plan });
    const sms = ["--sms-gateway", `${gateway.url}/sms`, "--sms-quiet", "off", "--local-links"];
    const command = {
      args: ["serve", "--data", file, "--port", "0", ...sms],
      home: folder,
      env: { SURVEYCTL_API_KEY: "key-of-the-kill-test" },
    };
    const rows = () => withStore((store) => store.read(listAll));
    for (let round = 0; round < KILLS; round += 1) {
      state.running = startProgram(command);
      expect((await state.running.ended).signal).toBe("SIGKILL");
    }
    const last = startProgram({ ...command, env: { ...command.env, ...A_MINUTE_LATER } });
    await last.saying(/^listening on (http\S+)$/m);
    await expect.poll(() => countWaiting(file), { timeout: 60_000, interval: 200 }).toBe(0);
    last.child.kill("SIGTERM");
    await last.ended;
    const got = gateway.on("/sms").map(({ body }) => (JSON.parse(body) as { to: string }).to);
    const states = await rows();
    const of = (name: string) => states.filter((row) => row.state === name).map(({ phoneNumber }) => phoneNumber ?? "");
    expect(new Set(got).size).toBe(got.length);
    expect([...of("sent"), ...of("unknown")].toSorted()).toEqual(numbers);
    expect(of("sent").filter((number) => !got.includes(number))).toEqual([]);
    expect(of("unknown").length).toBeGreaterThan(0);
    // Each kill can catch one message per connection.
    expect(of("unknown").length).toBeLessThanOrEqual(KILLS * 4);
    await gateway.close();
    await rm(folder, { recursive: true, force: true });
  },
  size(120_000, 600_000),
);
