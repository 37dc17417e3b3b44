import path from "node:path";
import { describe, expect, test } from "vitest";
import { systemClock } from "../../../../src/runtime/clock.ts";
import { systemRandom } from "../../../../src/runtime/random.ts";
import { addKey, addProject, authenticate } from "../../../../src/service/domain/projects/projects.ts";
import { addResponse } from "../../../../src/service/domain/answers/responses.ts";
import { addMember } from "../../../../src/service/domain/surveys/autopilot.ts";
import { sendPerson } from "../../../../src/service/domain/people/people.ts";
import { moveStore } from "../../../../src/service/move-store.ts";
import { openData } from "../../../../src/service/open-data-file.ts";
import { hasPostgres, newDatabase } from "../../../helpers/postgres.ts";
import { links, memberInput, responseInput, sendInput } from "../../domain/fixture.ts";
import { newDataFile } from "../engines.ts";

const world = { clock: systemClock, random: systemRandom };
const options = { ...world, signal: new AbortController().signal, onRows: async () => undefined };
const KEY = "key-of-more-than-twenty-characters";

describe.skipIf(!hasPostgres)("a move from a file to a server and back", () => {
  test("when it is done, then every table is equal, keys work, and what was left behind refuses to open", async () => {
    const url = await newDatabase();
    const [first, last] = [newDataFile(), path.join(path.dirname(newDataFile()), "back.db")];
    const store = await openData({ ...world, dataFile: first });
    await store.write(async (tx) => {
      const project = await addProject(tx, "default");
      await addKey(tx, project, KEY);
      const { person } = await sendPerson(tx, project, sendInput({ email: "z@x.co", name: 'Zoë "Z" \\' }));
      await addResponse(tx, project, responseInput({ personId: person.id, comment: 'a "b"\n\u2028 ü \\' }), links);
      await addMember(tx, project, memberInput({ personEmail: "m@x.co", properties: { plan: "pro" } }));
    });
    await store.close();
    const database = { url, mayMigrate: true };
    const there = await moveStore({ ...options, from: first, to: "postgres://server/one", toDatabase: database });
    const back = await moveStore({ ...options, from: "postgres://server/one", fromDatabase: database, to: last });
    // The clock and the pause of each store are its own.
    const own = new Set(["project_state", "delivery_state", "delivery_counts", "webhook_counts"]);
    const sums = ({ tables }: typeof there) => tables.filter(({ table }) => !own.has(table));
    expect(sums(back)).toEqual(sums(there));
    expect(there.tables.find(({ table }) => table === "responses")?.rows).toBe(1);
    await expect(openData({ ...world, dataFile: first })).rejects.toThrow("moved to postgres://server/one");
    await expect(openData({ ...world, dataFile: "", database })).rejects.toThrow(`moved to ${last}`);
    const again = await openData({ ...world, dataFile: last });
    expect((await again.read((tx) => authenticate(tx, KEY)))?.name).toBe("default");
    expect(await again.check()).toEqual([]);
    await again.close();
  });
});
