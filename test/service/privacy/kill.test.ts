/** An erasure that is killed has not begun, or is finished by the next start. */
import { cp, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { expect, test } from "vitest";
import type { StoredPastResponse } from "../../../src/service/domain/history/rows.ts";
import { finishErasure } from "../../../src/service/parts/upkeep.ts";
import { size } from "../../helpers/long.ts";
import { runCli } from "../../helpers/run-cli.ts";
import { ADA, addAda, addOther, findTraces, openPrivacy, type PrivacyFixture } from "./fixture.ts";

const KILLS = size(2, 20);
/** More than one step takes away. */
const RESPONSES = 1500;
const HOOK = path.join(import.meta.dirname, "../../helpers/kill-at-write.cjs");

async function addResponses({ service, project, time }: PrivacyFixture): Promise<void> {
  await service().store.write(async (tx) => {
    const ada = await tx.people.byEmail(project.id, ADA.email);
    const none = { tags: "[]", additionalAnswers: "[]", notes: "[]", noteIds: "[]", properties: "{}" };
    const rows: StoredPastResponse[] = [];
    for (let n = 0; n < RESPONSES; n += 1) {
      const times = { createdAt: time.now - n, updatedAt: time.now - n };
      const row = { id: await tx.history.nextId(project.id), personId: ada?.id ?? 0, surveyType: "nps", score: 1 };
      rows.push({ ...row, comment: `${ADA.comment} ${n}`, ...times, ...none });
    }
    await tx.history.insertResponses(project.id, rows);
  });
}

test(
  `when an erasure is killed ${KILLS} times, then nothing was done, or the next start finishes it`,
  async () => {
    const fixture = await openPrivacy();
    const copies = await mkdtemp(path.join(tmpdir(), "surveyctl-killed-"));
    try {
      await addAda(fixture);
      await addResponses(fixture);
      await addOther(fixture, "bob@example.com", { score: 2 });
      await fixture.stop();
      const kill = async (name: string, at: number): Promise<{ stderr: string; dataFile: string }> => {
        const folder = path.join(copies, name);
        await cp(fixture.folder, folder, { recursive: true });
        const dataFile = path.join(folder, "survey.db");
        const env = { NODE_OPTIONS: `--require ${HOOK}`, KILL_AT_WRITE: String(at) };
        const args = ["service", "erase", ADA.email, "--yes", "--data", dataFile];
        const { status, signal, stderr } = await runCli({ args, env, home: folder });
        expect({ status, signal }).toEqual(
          at === 0 ? { status: 0, signal: null } : { status: null, signal: "SIGKILL" },
        );
        return { stderr, dataFile };
      };
      const writes = Number(/^writes (\d+)$/m.exec((await kill("whole", 0)).stderr)?.[1]);
      const outcomes = new Set<string>();
      for (let n = 1; n <= KILLS; n += 1) {
        const { dataFile } = await kill(`copy-${n}`, Math.ceil((writes * n) / (KILLS + 1)));
        const service = await fixture.openAnother(dataFile);
        const ada = await service.store.read((tx) => tx.people.byEmail(fixture.project.id, ADA.email));
        await finishErasure(service.store, service.sweepMessages);
        const counts = await service.store.read((tx) => tx.projects.counts(fixture.project.id));
        expect(await service.store.check()).toEqual([]);
        expect(counts).toEqual(ada === null ? { people: 1, responses: 1 } : { people: 2, responses: RESPONSES + 2 });
        const traces = await findTraces(path.dirname(dataFile));
        expect(traces.length > 0).toBe(ada !== null);
        outcomes.add(ada === null ? "finished" : "nothing done");
        await service.close();
      }
      // The hook sees no write of SQLite's own, so nothing is cut short before the commit.
      expect([...outcomes]).toEqual(["finished"]);
    } finally {
      await rm(copies, { recursive: true, force: true });
      await fixture.close();
    }
  },
  size(60_000, 240_000),
);
