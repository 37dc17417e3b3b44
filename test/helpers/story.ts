/** Parses and runs test/acceptance; its README describes the language. */
import { spawn } from "node:child_process";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { wrongForm } from "./json-form.ts";
import { onPostgres } from "./postgres.ts";
import { openResident, runLine, runShell } from "./resident.ts";
import { bareEnvironment, follow, inProcesses, inTerminal, shellProgram, type Ended } from "./run-cli.ts";
import { startServe, startServeProcess, type Served } from "./serve.ts";

type Stream = "stdout" | "stderr";

interface Expectation {
  readonly stream: Stream;
  readonly pattern: RegExp;
  readonly present: boolean;
}

export interface Step {
  readonly line: number;
  readonly kind: "run" | "file" | "server" | "terminal" | "serve" | "stop" | "env";
  readonly text: string;
  readonly stdin: string[];
  readonly exact: Record<Stream, string[]>;
  readonly patterns: Expectation[];
  status: number;
}

export interface Story {
  readonly steps: readonly Step[];
  readonly files: ReadonlyMap<string, string>;
  readonly covers: readonly string[];
  readonly needs: readonly string[];
}

export function parseStory(text: string): Story {
  const [script = "", ...sections] = text.split(/^-- (\S+) --\n/m);
  const files = new Map<string, string>();
  for (let index = 0; index < sections.length; index += 2) files.set(sections[index] ?? "", sections[index + 1] ?? "");
  const steps: Step[] = [];
  for (const [index, line] of script.split("\n").entries()) readLine(line, index + 1, steps);
  const named = (what: string): string[] =>
    [...script.matchAll(new RegExp(`^# ${what}: (.*)$`, "gm"))].flatMap(([, names = ""]) => names.split(/[\s,]+/));
  return { steps, files, covers: named("covers"), needs: named("needs") };
}

const KINDS: Readonly<Record<string, Step["kind"]>> = {
  $: "run",
  file$: "file",
  server$: "server",
  tty$: "terminal",
  serve: "serve",
  stop: "stop",
  env: "env",
};

function readLine(line: string, number: number, steps: Step[]): void {
  if (line.trim() === "" || line.startsWith("#")) return;
  const [, word = "", rest = ""] = /^(\S+) ?(.*)$/s.exec(line) ?? [];
  const kind = KINDS[word];
  const step = steps.at(-1);
  if (kind !== undefined) {
    steps.push({
      line: number,
      kind,
      text: rest,
      stdin: [],
      exact: { stdout: [], stderr: [] },
      patterns: [],
      status: 0,
    });
  } else if (step === undefined || !expectation(step, word, rest)) {
    throw new Error(`line ${number}: not a line of a story: ${line}`);
  }
}

function expectation(step: Step, word: string, rest: string): boolean {
  if (word === "<") step.stdin.push(rest);
  else if (word === ">") step.exact.stdout.push(rest);
  else if (word === "2>") step.exact.stderr.push(rest);
  else if (word === "status") step.status = Number(rest);
  else return pattern(step, `${word} ${rest}`);
  return true;
}

function pattern(step: Step, line: string): boolean {
  const match = /^(! ?)?(stdout|stderr) \/(.*)\/(\w*)$/.exec(line);
  if (match === null) return false;
  const [, not, stream, source = "", flags = ""] = match;
  step.patterns.push({
    stream: stream as Stream,
    pattern: new RegExp(source, `m${flags.replace("m", "")}`),
    present: not === undefined,
  });
  return true;
}

interface Stage {
  readonly folder: string;
  readonly env: Record<string, string>;
  readonly services: Served[];
}

/** Runs a story in its own directory and rejects at the first wrong step. Only one can run at a time. */
export async function runStory(story: Story): Promise<void> {
  const folder = await mkdtemp(path.join(tmpdir(), "surveyctl-story-"));
  const services: Served[] = [];
  const env = await prepare(folder, story.files);
  const resident = inProcesses ? null : await openResident(path.join(folder, "bin"), path.join(folder, "work"));
  try {
    for (const step of story.steps) await runStep(step, { folder, env, services });
  } finally {
    await resident?.close();
    for (const service of services) await service.stop();
    await rm(folder, { recursive: true, force: true });
  }
}

async function prepare(folder: string, files: ReadonlyMap<string, string>): Promise<Record<string, string>> {
  for (const name of ["home", "work", "bin"]) await mkdir(path.join(folder, name));
  await writeFile(path.join(folder, "bin/surveyctl"), `#!/bin/sh\nexec ${shellProgram()} "$@"\n`, {
    mode: 0o755,
  });
  for (const [name, text] of files) {
    await mkdir(path.dirname(path.join(folder, "work", name)), { recursive: true });
    await writeFile(path.join(folder, "work", name), text);
  }
  return bareEnvironment(path.join(folder, "home"), { PATH: `${path.join(folder, "bin")}:${process.env.PATH ?? ""}` });
}

async function runStep(step: Step, stage: Stage): Promise<void> {
  const { env, services } = stage;
  if (step.kind === "env") setVariable(step.text, env);
  else if (step.kind === "serve") Object.assign(env, await startService(step, stage));
  else if (step.kind === "stop") await services.pop()?.stop();
  else if (step.kind !== (onPostgres ? "file" : "server")) {
    const ended = await runCommand(step, stage);
    check(step, ended, env, await wrongForm(step.text, ended.stdout));
  }
}

function setVariable(text: string, env: Record<string, string>): void {
  const [, name = "", value = ""] = /^(\w+)=(.*)$/.exec(text) ?? [];
  if (value === "") delete env[name];
  else env[name] = value;
}

async function startService(step: Step, { services }: Stage): Promise<Record<string, string>> {
  const options = { args: step.text.split(" ").filter((word) => word !== "") };
  const service = inProcesses ? await startServeProcess(options) : await startServe(options);
  services.push(service);
  return { ...service.env, DATA: service.place[1] };
}

/** Commands that only print, without reading from the terminal or showing progress. */
const SHOWS = /^surveyctl (?!help\b|\S+ (?:import|export)\b)[a-z][^|&;<>]*$/;

async function runCommand(step: Step, { folder, env }: Stage): Promise<Ended> {
  const cwd = path.join(folder, "work");
  const input = step.stdin.map((line) => `${line}\n`).join("");
  const world = { folder, cwd, env, stdin: input };
  const text = onPostgres ? step.text.replaceAll('--data "$DATA"', '--database "$DATA"') : step.text;
  if (step.kind !== "terminal") return inProcesses ? runShell(`set -o pipefail\n${text}`, world) : runLine(text, world);
  if (!inProcesses && step.stdin.length === 0 && SHOWS.test(text)) return runLine(text, { ...world, columns: 80 });
  const [command = "", ...args] = inTerminal(text, 80);
  const running = follow(spawn(command, args, { cwd, env }));
  running.child.stdin.end(input);
  return running.ended;
}

function check(step: Step, ended: Ended, env: Readonly<Record<string, string>>, more: readonly string[]): void {
  const complaints = [
    ...more,
    ...wrongStatus(step, ended),
    ...wrongStream(step, "stdout", ended),
    ...wrongStream(step, "stderr", ended),
    ...leaks(ended, env),
  ];
  if (complaints.length === 0) return;
  throw new Error(
    [
      `line ${step.line}: $ ${step.text}`,
      ...complaints,
      `--- stdout`,
      ended.stdout,
      `--- stderr`,
      ended.stderr,
      `--- status ${String(ended.status)}`,
    ].join("\n"),
  );
}

function wrongStatus(step: Step, ended: Ended): string[] {
  return ended.status === step.status ? [] : [`status ${String(ended.status ?? ended.signal)}, not ${step.status}`];
}

const ESC = String.fromCodePoint(27);
/** Erased progress lines, whose number depends on the machine's speed. */
const ERASED = new RegExp(`^.*${ESC}\\[1G${ESC}\\[0K(?:${ESC}\\[\\?\\d+[hl])*`, "gm");

function wrongStream(step: Step, stream: Stream, ended: Ended): string[] {
  const text = ended[stream].replaceAll("\r\n", "\n").replaceAll(ERASED, "");
  const patterns = step.patterns.filter((one) => one.stream === stream);
  const wrong = patterns.filter((one) => one.pattern.test(text) !== one.present);
  const complaints = wrong.map(
    (one) => `${stream} ${one.present ? "does not match" : "matches"} ${String(one.pattern)}`,
  );
  const named = patterns.some((one) => one.present);
  const lines = step.exact[stream];
  if ((lines.length > 0 || !named) && !sameLines(lines, text))
    complaints.push(`${stream} is not:\n${lines.join("\n")}`);
  return complaints;
}

function sameLines(lines: readonly string[], text: string): boolean {
  const source = lines.map((line) => `${line.split("[..]").map(escapePattern).join(".*")}\n`).join("");
  return new RegExp(`^${source}$`).test(text);
}

function escapePattern(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|/]/g, "\\$&");
}

/** No command may ever print the key, plain or in Base64. */
function leaks({ stdout, stderr }: Ended, env: Readonly<Record<string, string>>): string[] {
  const key = env.SURVEYCTL_API_KEY;
  if (key === undefined) return [];
  const forms = [key, Buffer.from(`${key}:`).toString("base64")];
  return forms.some((form) => stdout.includes(form) || stderr.includes(form)) ? ["the key is shown"] : [];
}
