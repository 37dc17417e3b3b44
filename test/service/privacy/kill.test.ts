/** A killed erasure either hasn't begun or is finished by the next start. */
import { storePastResponses } from "../../../src/service/domain/answers/response-changes.ts";
import { cp, mkdtemp, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import type { StoredPastResponse } from "../../../src/service/domain/answers/response-columns.ts";
import { finishErasure } from "../../../src/service/domain/privacy/erase.ts";
import { size } from "../../helpers/long.ts";
import { startProgram } from "../../helpers/run-cli.ts";
import { ADA, addAda, addOther, findTraces, openPrivacy, type PrivacyFixture } from "./fixture.ts";

const KILLS = size(2, 20);
const RESPONSES = 1500;

/** Kills the erasure once the WAL has `killAt` bytes. Returns how it ended and the WAL's maximum size. */
async function erase(dataFile: string, killAt: number) {
  const args = ["service", "erase", ADA.email, "--yes", "--data", dataFile];
  const running = startProgram({ args, home: path.dirname(dataFile) });
  running.child.stdin.end();
  const log = { bytes: 0 };
  while (running.child.exitCode === null && log.bytes < killAt) {
    const { size: bytes } = await stat(`${dataFile}-wal`).catch(() => ({ size: 0 }));
    log.bytes = Math.max(log.bytes, bytes);
    await sleep(1);
  }
  running.child.kill("SIGKILL");
  return { ...(await running.ended), bytes: log.bytes };
}

async function addResponses({ service, project, time }: PrivacyFixture): Promise<void> {
  await service().store.write(
    async (tx) => {
      const ada = await tx.people.byEmail(project.id, ADA.email);
      const none = { tags: "[]", additionalAnswers: "[]", notes: "[]", noteIds: "[]", properties: "{}" };
      const rows: StoredPastResponse[] = [];
      for (let n = 0; n < RESPONSES; n += 1) {
        const times = { createdAt: time.now - n, updatedAt: time.now - n };
        const row = { id: await tx.history.newId(project.id), personId: ada?.id ?? 0, surveyType: "nps", score: 1 };
        rows.push({ ...row, comment: `${ADA.comment} ${n}`, ...times, ...none });
      }
      await storePastResponses(tx, project.id, rows);
    },
    { project: "all" },
  );
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
      const copy = async (name: string): Promise<string> => {
        const folder = path.join(copies, name);
        await cp(fixture.folder, folder, { recursive: true });
        return path.join(folder, "survey.db");
      };
      const whole = await erase(await copy("whole"), Infinity);
      expect(whole.status).toBe(0);
      const outcomes = new Set<string>();
      for (let n = 0; n < KILLS; n += 1) {
        const dataFile = await copy(`copy-${n}`);
        const { signal } = await erase(dataFile, 1 + ((whole.bytes - 1) * n) / (KILLS - 1));
        const service = await fixture.openAnother(dataFile);
        const ada = await service.store.read((tx) => tx.people.byEmail(fixture.project.id, ADA.email));
        await finishErasure(service.store, service.sweepMessages);
        const counts = await service.store.read((tx) => tx.projects.counts(fixture.project.id));
        expect(await service.store.check()).toEqual([]);
        expect(counts).toEqual(ada === null ? { people: 1, responses: 1 } : { people: 2, responses: RESPONSES + 2 });
        const traces = await findTraces(path.dirname(dataFile));
        expect(traces.length > 0).toBe(ada !== null);
        outcomes.add(`${signal ?? "not killed"}, ${ada === null ? "finished" : "nothing done"}`);
        await service.close();
      }
      if (process.env.SHOW_FIGURES === "1") console.log({ bytes: whole.bytes, outcomes });
      // If nothing was killed, the test proves nothing.
      expect([...outcomes].join()).toContain("SIGKILL");
    } finally {
      await rm(copies, { recursive: true, force: true });
      await fixture.close();
    }
  },
  size(60_000, 240_000),
);
