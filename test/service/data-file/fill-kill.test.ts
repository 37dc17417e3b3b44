import { existsSync, readdirSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { Client } from "pg";
import { systemClock } from "../../../src/runtime/clock.ts";
import { systemRandom } from "../../../src/runtime/random.ts";
import { sendPerson } from "../../../src/service/domain/people/people.ts";
import { ensureProject } from "../../../src/service/first-project.ts";
import { countContents } from "../../../src/service/domain/moving/moving.ts";
import { openData } from "../../../src/service/data-file/open-data-file.ts";
import { moveStore } from "../../../src/service/data-file/move-store.ts";
import { hasPostgres, newDatabase } from "../../helpers/postgres.ts";
import { sendInput } from "../domain/fixture.ts";
import { runInside } from "../../helpers/in-process.ts";
import { type Ended, startProgram } from "../../helpers/run-cli.ts";

const PEOPLE = 600;
const world = { clock: systemClock, random: systemRandom };
const state = { folder: "" };
const file = (name: string): string => path.join(state.folder, name);

beforeEach(async () => {
  state.folder = await mkdtemp(path.join(tmpdir(), "surveyctl-fill-kill-"));
});
afterEach(() => rm(state.folder, { recursive: true, force: true }));

async function fill(name: string): Promise<void> {
  const store = await openData({ ...world, dataFile: file(name) });
  await ensureProject(store);
  const project = { id: 1, name: "default" };
  await store.write(
    async (tx) => {
      for (let n = 0; n < PEOPLE; n += 1)
        await sendPerson(tx, project, sendInput({ email: `p${n}@x.co`, send: false }));
    },
    { project: "all" },
  );
  await store.close();
}

const run = (args: readonly string[]): Promise<Ended> => runInside({ args: ["service", ...args], home: state.folder });

/** Kills the command when `isTime` returns true. Returns false if the command ended first. */
async function killWhen(args: readonly string[], isTime: () => Promise<boolean> | boolean): Promise<boolean> {
  const { child, ended } = startProgram({ args: ["service", ...args], home: state.folder });
  child.stdin.end();
  const progress = { isOver: false };
  void ended.then(() => (progress.isOver = true));
  while (!progress.isOver && !(await isTime())) await sleep(1);
  child.kill("SIGKILL");
  return (await ended).signal === "SIGKILL";
}

const peopleIn = async (name: string, url: string | null = null): Promise<number> => {
  const database = url === null ? null : { url, mayMigrate: false };
  const store = await openData({ ...world, dataFile: file(name), database });
  const { people } = await store.read(countContents);
  await store.close();
  return people;
};

const serve = (place: readonly string[]): Promise<Ended> =>
  runInside({ args: ["serve", "--port", "0", ...place], home: state.folder });

describe("a restore that was killed", () => {
  test("when its target is there, then serve refuses it, and the same command again finishes", async () => {
    await fill("survey.db");
    expect((await run(["backup", file("b.db"), "--data", file("survey.db")])).status).toBe(0);
    const restore = ["restore", file("b.db"), "--data", file("new.db")];
    expect(await killWhen(restore, () => existsSync(file("new.db")))).toBe(true);
    expect(await serve(["--data", file("new.db")])).toMatchObject({
      status: 1,
      stdout: "",
      stderr: `error: ${file("new.db")}: the restore from ${file("b.db")} has not ended; run that command again\n`,
    });
    expect((await run(["project", "list", "--data", file("new.db")])).status).toBe(1);
    expect(await run(restore)).toMatchObject({ status: 0 });
    expect(await peopleIn("new.db")).toBe(PEOPLE);
    expect(readdirSync(state.folder).filter((name) => name.includes("tmp"))).toEqual([]);
  });

  test("when it fails, then a file that was empty before can be served", async () => {
    await fill("survey.db");
    await (await openData({ ...world, dataFile: file("empty.db") })).close();
    const signal = AbortSignal.abort(new Error("stopped"));
    const options = { ...world, from: file("survey.db"), to: file("empty.db"), signal, onRows: async () => undefined };
    await expect(moveStore(options)).rejects.toThrow("stopped");
    expect([await peopleIn("empty.db"), await peopleIn("survey.db")]).toEqual([0, PEOPLE]);
  });
});

describe("a move that was killed", () => {
  test("when its target is there, then serve refuses it, and the same command again finishes", async () => {
    await fill("survey.db");
    const move = ["move", "--to", file("new.db"), "--data", file("survey.db")];
    expect(await killWhen(move, () => existsSync(file("new.db")))).toBe(true);
    const { status, stderr } = await serve(["--data", file("new.db")]);
    const refusal = `error: ${file("new.db")}: the move from ${file("survey.db")} has not ended; run that command again\n`;
    expect([status, stderr]).toEqual([1, refusal]);
    expect(await run(move)).toMatchObject({ status: 0 });
    expect(await peopleIn("new.db")).toBe(PEOPLE);
  });

  test("when it was killed between the two stores' last writes, then the same command again finishes", async () => {
    await fill("survey.db");
    const move = ["move", "--to", file("new.db"), "--data", file("survey.db")];
    expect((await run(move)).status).toBe(0);
    const store = await openData({ ...world, dataFile: file("new.db") });
    await store.write((tx) => tx.tables.setMark("filling", `move from ${file("survey.db")}`), { project: "all" });
    await store.close();
    await expect(peopleIn("new.db")).rejects.toThrow("has not ended");
    // The copy may be the only one left, so other commands must not overwrite it.
    expect(await run(["restore", file("survey.db"), "--data", file("new.db")])).toMatchObject({
      status: 2,
      stderr: `error: ${file("new.db")} is not empty: it has 1 project\n`,
    });
    expect((await run(move)).status).toBe(0);
    expect(await peopleIn("new.db")).toBe(PEOPLE);
    expect(await run(move)).toMatchObject({
      status: 1,
      stderr: `error: ${file("survey.db")}: the data was moved to ${file("new.db")}; use that\n`,
    });
    await rm(file("new.db"));
    expect((await run(move)).status).toBe(1);
    expect(existsSync(file("new.db"))).toBe(false);
  });
});

describe.skipIf(!hasPostgres)("a database that a killed run was to fill", () => {
  test.each(["restore", "move"])(
    "when a %s has made its schema, then serve refuses it, and the same command again finishes",
    async (verb) => {
      await fill("survey.db");
      const url = await newDatabase();
      expect((await run(["backup", file("b.db"), "--data", file("survey.db")])).status).toBe(0);
      const command =
        verb === "restore"
          ? ["restore", file("b.db"), "--database", url]
          : ["move", "--to", url, "--data", file("survey.db")];
      const client = new Client({ connectionString: url });
      await client.connect();
      const hasSchema = async (): Promise<boolean> =>
        (await client.query("SELECT 1 FROM pg_tables WHERE tablename = 'store_marks'")).rowCount === 1;
      expect(await killWhen(command, hasSchema)).toBe(true);
      await client.end();
      const { status, stderr } = await serve(["--database", url, "--outbox", file("outbox")]);
      const from = verb === "restore" ? "b.db" : "survey.db";
      expect([status, stderr]).toEqual([
        1,
        expect.stringMatching(`^error: .*the ${verb} from ${file(from)} has not ended; run that command again\n$`),
      ]);
      expect(await run(command)).toMatchObject({ status: 0 });
      expect(await peopleIn("", url)).toBe(PEOPLE);
    },
  );
});
