import { existsSync } from "node:fs";
import { mkdir, mkdtemp, readFile, rename, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { systemClock } from "../../../src/runtime/clock.ts";
import { systemRandom } from "../../../src/runtime/random.ts";
import { openDataFile } from "../../../src/service/data-file/open-data-file.ts";
import { sendPerson } from "../../../src/service/domain/people/people.ts";
import { ensureProject } from "../../../src/service/first-project.ts";
import { runInside } from "../../helpers/in-process.ts";
import type { Ended } from "../../helpers/run-cli.ts";
import { sendInput } from "../domain/fixture.ts";

const state = { folder: "" };
const file = (...names: string[]): string => path.join(state.folder, ...names);
const world = { clock: systemClock, random: systemRandom };

const run = async (...args: string[]): Promise<Ended> => {
  const ended = await runInside({ args: ["service", ...args], home: state.folder });
  expect(ended.stderr).not.toContain("error:");
  return ended;
};

beforeEach(async () => {
  state.folder = await mkdtemp(path.join(tmpdir(), "surveyctl-restored-"));
  await mkdir(file("other"));
  const store = await openDataFile({ ...world, dataFile: file("survey.db") });
  await ensureProject(store);
  await store.write(
    async (tx) => {
      for (const email of ["ada@x.co", "bob@x.co"])
        await sendPerson(tx, { id: 1, name: "default" }, sendInput({ email, send: false }));
    },
    { project: "all" },
  );
  await store.close();
  await run("backup", file("old.db"), "--data", file("survey.db"));
  await run("erase", "ada@x.co", "--yes", "--data", file("survey.db"));
}, 60_000);
afterEach(() => rm(state.folder, { recursive: true, force: true }));

async function emailsIn(dataFile: string): Promise<(string | null)[]> {
  const store = await openDataFile({ ...world, dataFile });
  await store.settle();
  const which = { since: null, until: null, after: null, limit: 100 };
  const rows = await store.read((tx) => tx.people.list(1, which));
  await store.close();
  return rows.map((row) => (JSON.parse(row) as { email: string | null }).email);
}

describe("when an older backup is restored into another folder", () => {
  it("then whoever was erased since is left out, and the log lies beside the new file", async () => {
    const { stdout, stderr } = await run("restore", file("old.db"), "--data", file("other", "new.db"), "-o", "json");
    expect(JSON.parse(stdout)).toMatchObject({ people: 1 });
    expect(stderr).toContain("left out 1 person erased after the backup was made");
    expect(await emailsIn(file("other", "new.db"))).toEqual(["bob@x.co"]);
    expect(existsSync(file("other", "new.db.erasures"))).toBe(true);
  });

  it("then a log of the newer backup does the same where the old data file is gone", async () => {
    await run("backup", file("new.db"), "--data", file("survey.db"));
    for (const name of ["survey.db", "survey.db.erasures"]) await rm(file(name));
    await run("restore", file("new.db"), "--data", file("other", "survey.db"));
    await rm(file("other", "survey.db"));
    const { stderr } = await run("restore", file("old.db"), "--data", file("other", "survey.db"));
    expect(stderr).toContain("left out 1 person erased after the backup was made");
    expect(await emailsIn(file("other", "survey.db"))).toEqual(["bob@x.co"]);
  });

  it("then a log in the folder of the backup or of the new file does the same", async () => {
    await run("backup", file("new.db"), "--data", file("survey.db"));
    for (const name of ["survey.db", "survey.db.erasures"]) await rm(file(name));
    await run("restore", file("new.db"), "--data", file("other", "survey.db"));
    await run("restore", file("old.db"), "--data", file("other", "earlier.db"));
    expect(await emailsIn(file("other", "earlier.db"))).toEqual(["bob@x.co"]);
  });

  it("then the newest backup of its series does the same where nothing else is left", async () => {
    await rename(file("old.db"), file("series.db"));
    await run("backup", file("series.db"), "--keep", "3", "--data", file("survey.db"));
    for (const name of ["survey.db", "survey.db.erasures"]) await rm(file(name));
    const { stderr } = await run("restore", file("series.db.1"), "--data", file("other", "new.db"));
    expect(stderr).toContain("left out 1 person erased after the backup was made");
    expect(await emailsIn(file("other", "new.db"))).toEqual(["bob@x.co"]);
    expect(existsSync(file("other", "new.db.erasures"))).toBe(true);
  });

  it("then a newest backup that is damaged is named, and all is restored", async () => {
    await rm(file("survey.db.erasures"));
    await rename(file("old.db"), file("series.db.1"));
    const whole = await readFile(file("series.db.1"));
    await writeFile(file("series.db"), whole.subarray(0, 5000).fill(7, 100));
    const { status, stderr } = await run("restore", file("series.db.1"), "--data", file("other", "new.db"));
    expect([status, stderr]).toEqual([
      0,
      expect.stringMatching(/^warning: \S+series\.db: .*; nobody was erased by it$/m),
    ]);
    expect(await emailsIn(file("other", "new.db"))).toEqual(["ada@x.co", "bob@x.co"]);
  });

  it("then a log of another service erases nobody", async () => {
    await rm(file("survey.db.erasures"));
    const entries = [{ hash: "0".repeat(64), at: 9_999_999_999 }];
    const log = { secret: "of another service", projects: [{ name: "default", entries }] };
    await writeFile(file("other", "foreign.db.erasures"), JSON.stringify(log));
    await run("restore", file("old.db"), "--data", file("other", "new.db"));
    expect(await emailsIn(file("other", "new.db"))).toEqual(["ada@x.co", "bob@x.co"]);
  });
});

describe("when the data is moved", () => {
  it("then the log lies beside the new file", async () => {
    await run("move", "--to", file("other", "new.db"), "--data", file("survey.db"));
    await rm(file("other", "new.db"));
    await run("restore", file("old.db"), "--data", file("other", "new.db"));
    expect(await emailsIn(file("other", "new.db"))).toEqual(["bob@x.co"]);
  });
});
