/** A long backup reads the file while a person is erased or the file is vacuumed. */
import { statSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { systemClock } from "../../../src/runtime/clock.ts";
import { silentLog } from "../../../src/runtime/log.ts";
import { systemRandom } from "../../../src/runtime/random.ts";
import { openTestService, type TestService } from "../../helpers/test-service.ts";
import { finishErasure } from "../../../src/service/domain/privacy/erase.ts";
import type { SqliteDatabase } from "../../../src/service/store/sqlite/engine/database.ts";
import { sendPerson } from "../../../src/service/domain/people/people.ts";
import { addProject } from "../../../src/service/domain/projects/projects.ts";
import { createFakeClock } from "../../helpers/fake-clock.ts";
import { sendInput } from "../domain/fixture.ts";
import { openRawDatabase } from "../store/engines.ts";

const OPTIONS = { publicUrl: "https://survey.test", rateLimit: null, random: systemRandom, log: silentLog };

let folder = "";
let file = "";
let service: TestService;
let reader: SqliteDatabase;
beforeEach(async () => {
  folder = await mkdtemp(path.join(tmpdir(), "surveyctl-reader-"));
  file = path.join(folder, "survey.db");
  service = await openTestService({ ...OPTIONS, dataFile: file, clock: createFakeClock() });
  const project = await service.store.write((tx) => addProject(tx, "default"), { project: "all" });
  for (let n = 0; n < 200; n += 1)
    await service.store.write(
      (tx) =>
        sendPerson(
          tx,
          project,
          sendInput({ email: `p${n}@x.co`, send: false, properties: { said: `${n} `.repeat(900) } }),
        ),
      { project: "all" },
    );
  reader = await openRawDatabase(file);
  reader.exec("BEGIN");
  reader.all("SELECT count(*) FROM people");
});
afterEach(async () => {
  reader.close();
  await service.close();
  await rm(folder, { recursive: true, force: true });
});

const ERASE = {
  kind: "erase",
  confirm: true,
  project: "default",
  email: "p7@x.co",
  phone_number: null,
  dry_run: false,
  properties: false,
  forget_unsubscribe: false,
} as const;

test("when somebody is erased, then there is a receipt, and the file is cleaned once nobody reads it", async () => {
  expect(await service.admin(ERASE)).toMatchObject({ people: 1, verified: false });
  reader.exec("ROLLBACK");
  await finishErasure(service.store, async () => undefined);
  expect(await service.store.read((tx) => tx.erasures.isCleaning())).toBe(false);
  expect(statSync(`${file}-wal`).size).toBeLessThan(40_000);
});

test("when the file is written anew, then it is so once, and whoever reads goes on", async () => {
  const logged = statSync(`${file}-wal`).size;
  const { bytesBefore: before, bytesAfter: bytes } = await service.store.vacuum();
  expect(before).toBeGreaterThanOrEqual(bytes);
  // A vacuum writes all rows to the WAL once.
  expect(statSync(`${file}-wal`).size - logged).toBeLessThan(2 * before);
  expect(reader.all("SELECT count(*) AS people FROM people")).toEqual([{ people: 200 }]);
  reader.exec("ROLLBACK");
  expect(await service.store.check()).toEqual([]);
});

test("when the file was written anew while a service has it open, then the next command opens it at once", async () => {
  reader.exec("ROLLBACK");
  await service.store.vacuum();
  const other = await openTestService({ ...OPTIONS, dataFile: file, clock: systemClock });
  expect(await other.store.read((tx) => tx.projects.list())).toHaveLength(1);
  await other.close();
});
