import { execFileSync } from "node:child_process";
import { lstatSync, writeFileSync } from "node:fs";
import { mkdtemp, readdir, rm } from "node:fs/promises";
import { createServer, type Server } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import { runInside } from "../../helpers/in-process.ts";
import type { Ended } from "../../helpers/run-cli.ts";

const state: { folder: string; good: string; sockets: Server[] } = { folder: "", good: "", sockets: [] };
const isRoot = process.getuid?.() === 0;

beforeAll(async () => {
  state.good = await mkdtemp(path.join(tmpdir(), "surveyctl-good-"));
  const file = path.join(state.good, "people.csv");
  writeFileSync(file, "email\nada@example.com\n");
  await make(`people import ${file} --no-send --profile local`);
  await make(`service backup @good/backup.db --data ${state.good}/.local/share/surveyctl/local.db`);
}, 60_000);
afterAll(() => rm(state.good, { recursive: true, force: true }));
beforeEach(async () => {
  state.folder = await mkdtemp(path.join(tmpdir(), "surveyctl-special-"));
});
afterEach(async () => {
  for (const socket of state.sockets.splice(0)) await new Promise((resolve) => void socket.close(resolve));
  await rm(state.folder, { recursive: true, force: true });
});

const run = (line: string): Promise<Ended> =>
  runInside({
    args: line.split(" ").map((word) => word.replace("@good", state.good).replace("@", `${state.folder}/`)),
    home: state.good,
  });

async function make(line: string): Promise<void> {
  const { status, stderr } = await run(line);
  if (status !== 0) throw new Error(stderr);
}

const KINDS: Readonly<Record<string, (file: string) => Promise<void>>> = {
  "a named pipe": async (file) => void execFileSync("mkfifo", [file]),
  "a socket": async (file) => {
    const server = createServer();
    await new Promise<void>((resolve) => void server.listen(file, resolve));
    state.sockets.push(server);
  },
  // Device numbers of /dev/null, and of a block device that no driver serves.
  ...(isRoot
    ? {
        "a device": async (file) => void execFileSync("mknod", [file, "c", "1", "3"]),
        "a device of blocks": async (file) => void execFileSync("mknod", [file, "b", "240", "77"]),
      }
    : {}),
};

const DATA = "@x: the path leads to KIND, not to a file";
const WRITTEN = "cannot write @x: it is KIND, not a regular file";
const LINES: readonly (readonly [line: string, message: string, status: number])[] = [
  ["serve --data @x --port 0", DATA, 1],
  ["service project list --data @x", DATA, 1],
  ["service restore @good/backup.db --data @x", DATA, 1],
  ["service move --data @good/backup.db --to @x", DATA, 1],
  ["service restore @x --data @new.db", "@x: the file is not a SQLite database", 1],
  ["service backup @x --data @good/backup.db", "@x already exists; name another file", 2],
  ["service backup @x --keep 2 --data @good/backup.db", "@x exists and is not a backup", 2],
  ["service survey preview --out @x --data @good/backup.db", WRITTEN, 2],
  ["service import @good/people.csv --report @x --data @good/backup.db", WRITTEN, 2],
  ["people export --out @x --profile local", WRITTEN, 2],
  ["report --out @x --profile local", WRITTEN, 2],
  ["people import @good/people.csv --no-send --results @x --profile local", WRITTEN, 2],
  ["people import @good/people.csv --no-send --failed-to @x --results @r --profile local", WRITTEN, 2],
  ["people export --out @out.csv --state @x --profile local", "--state: @x is not a regular file", 2],
  ["serve --data @good/backup.db --outbox @x --port 0", "@x is not a directory", 1],
];

const CASES = Object.keys(KINDS).flatMap((kind) => LINES.map((line) => [kind, ...line] as const));

test.each(CASES)("when %s has the name of the file in `%s`, then it is refused and stays", async (kind, ...rest) => {
  const [line, message, status] = rest;
  const file = path.join(state.folder, "x");
  await KINDS[kind]?.(file);
  const before = lstatSync(file);
  const ended = await run(line);
  const said = message.replaceAll("@", `${state.folder}/`).replace("KIND", kind.replace(" of blocks", ""));
  expect([ended.status, ended.stderr.split("\n").find((text) => text.startsWith("error: "))]).toEqual([
    status,
    `error: ${said}`,
  ]);
  const { ino, mode, rdev } = lstatSync(file);
  expect([ino, mode, rdev]).toEqual([before.ino, before.mode, before.rdev]);
  expect(await readdir(state.folder)).toEqual(["x"]);
});

const BESIDE: readonly (readonly [name: string, line: string, message: string])[] = [
  [
    "survey.db-wal",
    "serve --data @survey.db --port 0",
    "@survey.db-wal: the path leads to a named pipe, not to a file",
  ],
  [
    "r.journal",
    "people import @good/people.csv --no-send --results @r --profile local",
    "cannot write @r.journal: it is a named pipe, not a regular file",
  ],
  [
    "r.lock",
    "people import @good/people.csv --no-send --results @r --profile local",
    "the lock @r.lock is a named pipe, not a regular file",
  ],
];

test.each(BESIDE)("when a pipe is %s, then `%s` neither waits for it nor removes it", async (name, line, message) => {
  execFileSync("mkfifo", [path.join(state.folder, name)]);
  const { stderr } = await run(line);
  expect(stderr).toContain(`error: ${message.replaceAll("@", `${state.folder}/`)}\n`);
  expect(lstatSync(path.join(state.folder, name)).isFIFO()).toBe(true);
});
