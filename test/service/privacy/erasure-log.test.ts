import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdir, mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { systemClock } from "../../../src/runtime/clock.ts";
import { systemRandom } from "../../../src/runtime/random.ts";
import { Outbox } from "../../../src/service/sending/outbox.ts";
import { openDataFile } from "../../../src/service/data-file/open-data-file.ts";
import { sendPerson } from "../../../src/service/domain/people/people.ts";
import { ensureProject } from "../../../src/service/first-project.ts";
import { runInside } from "../../helpers/in-process.ts";
import { bareEnvironment, type Ended, shellProgram } from "../../helpers/run-cli.ts";
import { sendInput } from "../domain/fixture.ts";

const state = { folder: "" };
const file = (...names: string[]): string => path.join(state.folder, ...names);
const run = (...args: string[]): Promise<Ended> => runInside({ args, home: state.folder });
const erase = (email: string): Promise<Ended> =>
  run("service", "erase", email, "--yes", "--data", file("survey.db"), "-o", "json");

beforeEach(async () => {
  state.folder = await mkdtemp(path.join(tmpdir(), "surveyctl-log-"));
  const store = await openDataFile({ dataFile: file("survey.db"), clock: systemClock, random: systemRandom });
  await ensureProject(store);
  await store.write(
    async (tx) => {
      for (const email of ["ada@x.co", "bob@x.co"])
        await sendPerson(tx, { id: 1, name: "default" }, sendInput({ email, send: false }));
    },
    { project: "all" },
  );
  await store.close();
});
afterEach(() => rm(state.folder, { recursive: true, force: true }));

const FORMS: readonly (readonly [string, string, (log: string) => Promise<unknown>])[] = [
  ["empty", "it isn't an erasure log", (log) => writeFile(log, "")],
  ["of another kind", "it isn't an erasure log", (log) => writeFile(log, '{"secret":1}')],
  ["a folder", "it is a directory, not a regular file", (log) => mkdir(log)],
  ["a FIFO", "it is a named pipe, not a regular file", async (log) => spawnSync("mkfifo", [log])],
  ["a link to nothing", "no such file or directory", (log) => symlink(file("gone"), log)],
  ["a link to itself", "too many symbolic links lead on from it", (log) => symlink(log, log)],
];

describe.each(FORMS)("a log that is %s", (_, what, make) => {
  test("stops serve, erase and restore before anything is done", async () => {
    await run("service", "backup", file("old.db"), "--data", file("survey.db"));
    const log = file("survey.db.erasures");
    await make(log);
    const sentence = `error: cannot read the erasure log ${log}: ${what}; put it back; delete it only if the data isn't from a backup, which would bring erased people back\n`;
    const commands = [
      ["serve", "--port", "0", "--data", file("survey.db")],
      ["service", "erase", "ada@x.co", "--yes", "--data", file("survey.db")],
      ["service", "restore", file("old.db"), "--data", file("new.db")],
    ];
    for (const args of commands) expect(await run(...args)).toMatchObject({ status: 1, stdout: "", stderr: sentence });
    expect(existsSync(file("new.db"))).toBe(false);
    await rm(log, { recursive: true });
    expect(JSON.parse((await erase("ada@x.co")).stdout)).toMatchObject({ people: 1, verified: true });
  });
});

const NAMESPACE = ["--mount", "--fork", "--kill-child", "sh", "-c"];
const canMount = spawnSync("unshare", [...NAMESPACE, `mount -t tmpfs none ${tmpdir()}`]).status === 0;

test.skipIf(!canMount)("erase fails where the log can't be written, and the next command writes it", async () => {
  await mkdir(file("disk"));
  // Leaves two inodes for SQLite's own files and none for the erasure log.
  const script = `surveyctl() { ${shellProgram()} "$@"; }
    mount -t tmpfs -o nr_inodes=40 none disk && cp survey.db disk && cd disk
    i=0; while touch "f$i" 2>/dev/null; do i=$((i+1)); done; rm f1 f2
    surveyctl service erase ada@x.co --yes --data survey.db -o json; echo "status $?"
    ls survey.db.erasures; rm f*
    surveyctl service project list --data survey.db >/dev/null; ls survey.db.erasures`;
  const { stdout, stderr } = spawnSync("unshare", [...NAMESPACE, script], {
    cwd: state.folder,
    env: bareEnvironment(state.folder),
    encoding: "utf8",
  });
  const [receipt = "", status, log] = stdout.trim().split(/\n(?=status|survey)/);
  expect(JSON.parse(receipt)).toMatchObject({ people: 1, verified: false });
  expect([status, log]).toEqual(["status 1", "survey.db.erasures"]);
  expect(stderr).toContain("the rows are erased, but the erasure log was not written: the disk is full");
});

test("messages in an outbox that can't be read don't count as removed", async () => {
  const folder = file("outbox");
  await writeFile(folder, "");
  const unused = { readContext: () => Promise.reject(new Error()), makeDigest: () => Promise.reject(new Error()) };
  const world = { clock: systemClock, random: systemRandom, onError: () => undefined };
  const outbox = new Outbox({ ...world, ...unused, channels: [], folder, dataFile: file("survey.db") });
  const survey = { project: { id: 1 }, requestId: 1, channel: "email", token: "t" } as const;
  await expect(outbox.erase([survey])).rejects.toMatchObject({ code: "ENOTDIR" });
});
