import { execFile } from "node:child_process";
import { open, readdir, readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, it } from "vitest";
import { startProgram } from "../../helpers/run-cli.ts";
import { startServe, type Served } from "../../helpers/serve.ts";

let service: Served;
beforeAll(async () => {
  service = await startServe();
});
afterAll(() => service.stop());

const inFolder = (name: string): string => path.join(service.folder, name);

it("when the input is a pipe, then it is read once and imported like a file", async () => {
  const [pipe, results] = [inFolder("people.pipe"), inFolder("piped.csv")];
  await promisify(execFile)("mkfifo", [pipe]);
  const [ended] = await Promise.all([
    service.run(["people", "import", pipe, "--no-send", "--results", results]),
    writeFile(pipe, "email\npiped@example.com\n"),
  ]);
  const rows = await readFile(results, "utf8");
  expect([ended.status, rows.split("\n")[1]?.split(",").slice(0, 3)]).toEqual([0, ["2", "piped@example.com", "saved"]]);
});

it("when a pipe is imported without naming the results, then that is asked for before anything is read", async () => {
  const pipe = inFolder("unread.pipe");
  await promisify(execFile)("mkfifo", [pipe]);
  const ended = await service.run(["people", "import", pipe, "--no-send"]);
  expect([ended.status, ended.stderr]).toEqual([2, `error: --results FILE is required when reading ${pipe}\n`]);
});

it.each(["-", "/dev/stdin"])("when the input is %s, then it is standard input", async (input) => {
  const stdin = "email\nstdin@example.com\n";
  const unnamed = await service.run(["people", "import", input, "--no-send"], { stdin });
  expect([unnamed.status, unnamed.stderr.startsWith("error: --results FILE is required when reading ")]).toEqual([
    2,
    true,
  ]);
  const dry = await service.run(["people", "import", input, "--no-send", "--dry-run"], { stdin });
  const body = '{"email":"stdin@example.com","send":false}';
  expect([dry.status, dry.stdout]).toEqual([
    0,
    `{"method":"POST","url":"${service.baseUrl}/v1/people.json","body":${body}}\n`,
  ]);
});

it("when a file would be written over another of the same import, then nothing is", async () => {
  const [input, text] = [inFolder("apart.csv"), "email\napart@example.com\n"];
  await writeFile(input, text);
  const run = async (...flags: string[]): Promise<unknown[]> => {
    const ended = await service.run(["people", "import", input, "--no-send", ...flags]);
    return [ended.status, ended.stderr, await readFile(input, "utf8")];
  };
  const results = inFolder("both.csv");
  expect(await run("--results", input)).toEqual([
    2,
    `error: ${input} is already the input; it cannot be the results too\n`,
    text,
  ]);
  expect(await run("--failed-to", input)).toEqual([
    2,
    `error: ${input} is already the input; it cannot be --failed-to too\n`,
    text,
  ]);
  expect(await run("--results", results, "--failed-to", results)).toEqual([
    2,
    `error: ${results} is already the results; it cannot be --failed-to too\n`,
    text,
  ]);
});

it("when the results cannot be written, then that is said by their own name", async () => {
  const input = inFolder("nowhere.csv");
  await writeFile(input, "email\nnowhere@example.com\n");
  const ended = await service.run(["people", "import", input, "--no-send", "--results", inFolder("none/results.csv")]);
  const message = `error: cannot write ${inFolder("none/results.csv")}: the folder ${inFolder("none")} does not exist\n`;
  expect([ended.status, ended.stderr]).toEqual([2, message]);
});

it("when a pipe's writer says nothing and SIGINT comes, then the import ends and leaves nothing behind", async () => {
  const pipe = inFolder("silent.pipe");
  await promisify(execFile)("mkfifo", [pipe]);
  const args = ["people", "import", pipe, "--no-send", "--results", inFolder("silent.csv")];
  const running = startProgram({ args, home: service.folder, env: { ...service.env, TMPDIR: service.folder } });
  const writer = await open(pipe, "w");
  running.child.kill("SIGINT");
  const ended = await running.ended;
  await writer.close();
  const left = (await readdir(service.folder)).filter((name) => name.endsWith(".input"));
  expect([ended.status, ended.stdout, left]).toEqual([130, "", []]);
});
