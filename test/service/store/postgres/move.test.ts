import { readdirSync, statSync } from "node:fs";
import path from "node:path";
import { describe, expect, test } from "vitest";
import { silentLog } from "../../../../src/runtime/log.ts";
import { systemClock } from "../../../../src/runtime/clock.ts";
import { systemRandom } from "../../../../src/runtime/random.ts";
import { addKey, addProject, examineKey } from "../../../../src/service/domain/projects/projects.ts";
import { addResponse } from "../../../../src/service/domain/answers/responses.ts";
import { addMember } from "../../../../src/service/domain/surveys/autopilot/autopilot.ts";
import { sendPerson } from "../../../../src/service/domain/people/people.ts";
import { backUp, FileChoiceError } from "../../../../src/service/data-file/backup.ts";
import { copyDatabase, moveStore, restoreStore } from "../../../../src/service/data-file/move-store.ts";
import { type DataFileOptions, openData } from "../../../../src/service/data-file/open-data-file.ts";
import { openService } from "../../../../src/service/service.ts";
import type { Store } from "../../../../src/service/domain/ports.ts";
import { LIFE_SECONDS } from "../../../../src/service/domain/delivery/living.ts";
import { MIGRATIONS, newestVersion } from "../../../../src/service/sql/schema/migrations.ts";
import { hasPostgres, newDatabase } from "../../../helpers/postgres.ts";
import { links, memberInput, responseInput, sendInput } from "../../domain/fixture.ts";
import { newDataFile } from "../engines.ts";

const world = { clock: systemClock, random: systemRandom };
const options = { ...world, signal: new AbortController().signal, onRows: async () => undefined };
const KEY = "key-of-more-than-twenty-characters";

const OTHER_KEY = "key-of-another-project-in-it";

async function fill(store: Store): Promise<void> {
  await store.write(
    async (tx) => {
      const other = await addProject(tx, "other");
      await addKey(tx, other, OTHER_KEY);
      await sendPerson(tx, other, sendInput({ email: "only@x.co" }));
    },
    { project: "all" },
  );
  await store.write(
    async (tx) => {
      const project = await addProject(tx, "default");
      await addKey(tx, project, KEY);
      const { person } = await sendPerson(tx, project, sendInput({ email: "z@x.co", name: 'Zoë "Z" \\' }));
      await addResponse(tx, project, responseInput({ personId: person.id, comment: 'a "b"\n\u2028 ü \\' }), links);
      await addMember(tx, project, memberInput({ personEmail: "m@x.co", properties: { plan: "pro" } }));
    },
    { project: "all" },
  );
}

const LISTS = [
  "people.json",
  "survey_responses.json?expand[]=person&expand[]=notes",
  "autopilot/email/memberships.json",
  "bounces.json",
  "unsubscribes.json",
  "metrics.json",
];

async function readLists(place: Pick<DataFileOptions, "dataFile" | "database">): Promise<unknown[]> {
  const service = await openService({
    ...world,
    ...place,
    log: silentLog,
    publicUrl: "http://x.test",
    rateLimit: null,
  });
  const answers: unknown[] = [];
  for (const key of [KEY, OTHER_KEY])
    for (const list of LISTS) {
      const headers = { authorization: `Basic ${btoa(`${key}:`)}` };
      const { status, body } = await service.handle({ method: "GET", url: `http://x.test/v1/${list}`, headers });
      answers.push([status, body]);
    }
  await service.close();
  return answers;
}

describe.skipIf(!hasPostgres)("a move from a file to a server and back", () => {
  test("when it is done, then every table is equal, keys work, and what was left behind refuses to open", async () => {
    const url = await newDatabase();
    const [first, last] = [newDataFile(), path.join(path.dirname(newDataFile()), "back.db")];
    const store = await openData({ ...world, dataFile: first });
    await fill(store);
    await store.close();
    const before = await readLists({ dataFile: first });
    expect(before).toContainEqual([200, expect.stringContaining("z@x.co")]);
    const database = { url, mayMigrate: true };
    const there = await moveStore({ ...options, from: first, to: "postgres://server/one", toDatabase: database });
    expect(await readLists({ dataFile: "", database })).toEqual(before);
    const back = await moveStore({ ...options, from: "postgres://server/one", fromDatabase: database, to: last });
    // Each store has its own clock and pause, and a move adds a line to every project's log.
    const own = new Set(["project_state", "delivery_state", "operation_log"]);
    const sums = ({ tables }: typeof there) => tables.filter(({ table }) => !own.has(table));
    expect(sums(back)).toEqual(sums(there));
    expect(there.tables.find(({ table }) => table === "responses")?.rows).toBe(1);
    expect(back.tables.find(({ table }) => table === "operation_log")?.rows).toBe(2);
    await expect(openData({ ...world, dataFile: first })).rejects.toThrow("moved to postgres://server/one");
    await expect(openData({ ...world, dataFile: "", database })).rejects.toThrow(`moved to ${last}`);
    expect(await readLists({ dataFile: last })).toEqual(before);
    const again = await openData({ ...world, dataFile: last });
    expect(await again.check()).toEqual([]);
    await again.close();
  });

  test("when processes deliver from the database, then it is not moved, and they are counted", async () => {
    const database = { url: await newDatabase(), mayMigrate: true };
    const [served, to] = [await openData({ ...world, dataFile: "", database }), newDataFile()];
    const refused = "postgres://server/one is served, or was within the last 30 seconds; stop its";
    for (const [claimer, processes] of [
      ["one", "process"],
      ["two", "2 processes"],
    ] as const) {
      await served.write((tx) => tx.queue.beat(claimer, LIFE_SECONDS), { project: "none" });
      await expect(
        moveStore({ ...options, from: "postgres://server/one", fromDatabase: database, to }),
      ).rejects.toThrow(new FileChoiceError(`${refused} ${processes} first`));
    }
    await served.close();
  });

  test("when a database is backed up while it is served, then the backup fills a file and another database", async () => {
    const [database, empty] = [
      { url: await newDatabase(), mayMigrate: true },
      { url: await newDatabase(), mayMigrate: true },
    ];
    const served = await openData({ ...world, dataFile: "", database });
    await fill(served);
    const file = `${newDataFile()}.backup`;
    const copy = (to: string) =>
      copyDatabase({ ...options, from: "postgres://server/one", fromDatabase: database, to });
    const { info } = await backUp({ ...options, copy, dataFile: null, file, keep: null });
    expect(info).toEqual({
      file,
      bytes: statSync(file).size,
      rows: expect.any(Number),
      projects: 2,
      people: 3,
      responses: 1,
      surveys: 3,
      schema: newestVersion(MIGRATIONS),
      sha256: expect.stringMatching(/^[\da-f]{64}$/),
    });
    const { kind, key } = await served.read((tx) => examineKey(tx, KEY));
    expect([kind, key?.project.name]).toEqual(["good", "default"]);
    await served.close();

    const last = path.join(path.dirname(file), "restored.db");
    const there = await restoreStore({ ...options, from: file, to: last });
    const again = await restoreStore({ ...options, from: file, to: "postgres://server/two", toDatabase: empty });
    expect([there, again].map(({ people, responses }) => [people, responses])).toEqual([
      [3, 1],
      [3, 1],
    ]);
    expect(readdirSync(path.dirname(file)).filter((name) => name.includes(".tmp"))).toEqual([]);
  });
});
