import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { sample } from "fast-check";
import { expect, it, onTestFinished } from "vitest";
import { runInProcess, type Finished } from "../helpers/in-process.ts";
import { size } from "../helpers/long.ts";
import { startMisbehavingServer } from "../helpers/misbehaving-server.ts";
import type { CalledCommand } from "./commands.ts";
import { reply, type Reply } from "./replies.ts";
import { commandsIn, type Placed } from "./table.ts";

const REPLIES = size(60, 10_000);
/** A fixed seed makes failures repeatable; set FUZZ_SEED to try others. */
const SEED = Number(process.env.FUZZ_SEED ?? 1);
const LINES = 4;
const STYLES = [["--json"], ["-o", "table", "--no-color"], ["-o", "csv"], ["-o", "tsv", "-vv"], ["-o", "ndjson"]];
const FILE_STYLES = STYLES.filter((style) => !style.includes("table"));

it("when anything at all is answered, then every command ends in a documented way", async () => {
  const folder = await mkdtemp(path.join(tmpdir(), "surveyctl-fuzz-"));
  onTestFinished(async () => await rm(folder, { recursive: true, force: true }));
  const replies = sample(reply, { numRuns: REPLIES, seed: SEED });
  const share = REPLIES / LINES;
  const wrong = await Promise.all(
    Array.from({ length: LINES }, (_, line) =>
      feed(path.join(folder, String(line)), replies.slice(line * share, (line + 1) * share)),
    ),
  );
  expect(wrong.flat().slice(0, 10)).toEqual([]);
}, 180_000);

/** Feeds the replies to the commands until none is left. Returns the runs that ended wrongly. */
async function feed(place: string, replies: readonly Reply[]): Promise<string[]> {
  const state = { given: 0, saw: [] as string[] };
  const server = await startMisbehavingServer({
    script: () => {
      const { words, behaviour } = replies[state.given++ % replies.length] as Reply;
      state.saw.push(words);
      return behaviour;
    },
  });
  const wrong: string[] = [];
  const commands = await commandsIn(place);
  for (let turn = 0; state.given < replies.length; turn += 1) {
    const placed = commands[turn % commands.length] as Placed;
    state.saw = [];
    const { name } = placed.command;
    const styles = name.endsWith("export") ? FILE_STYLES : STYLES;
    const style = styles[Math.floor(turn / commands.length) % styles.length] ?? [];
    const complaint = await complaintAbout(placed, style, server.baseUrl);
    if (complaint !== "")
      wrong.push(`${placed.command.name} ${style.join(" ")}: ${complaint}\n  after ${state.saw.join("\n  and ")}`);
  }
  await server.stop();
  return wrong;
}

async function complaintAbout({ command, home }: Placed, style: readonly string[], baseUrl: string): Promise<string> {
  const { name, args, stdin } = command;
  for (const file of ["results.csv", "results.csv.journal"]) await rm(path.join(home, file), { force: true });
  const yes = BULK.test(name) && !args.includes("--yes") ? ["--yes"] : [];
  const run = {
    args: [...args, ...yes, ...style, "--retries", "0", "--quiet", "--timeout", "5", "--base-url", baseUrl],
    env: { HOME: home, XDG_CONFIG_HOME: home, SURVEYCTL_API_KEY: "key-of-the-fuzz", SURVEYCTL_SETTLE: "0" },
    ...(style.includes("table") && stdin === undefined && { columns: 100 }),
    ...(stdin !== undefined && { stdin }),
  };
  return await runInProcess(run).then(
    (finished) => wrongIn(command, style, finished),
    (error: unknown) => `died of ${String(error)}`,
  );
}

const BULK = /import|--from/;
const CONTROLS = /.{0,30}(?!\n|\t|\r\n)[\p{Cc}\u202A-\u202E\u2066-\u2069].{0,30}/u;

function wrongIn({ name }: CalledCommand, style: readonly string[], { status, stdout, stderr }: Finished): string {
  const isJsonOnly = style.includes("--json") || style.includes("ndjson");
  const lines = stderr.split("\n").filter((line) => line !== "");
  const errors = lines.filter((line) => line.startsWith(isJsonOnly ? '{"error":' : "error: "));
  if (isJsonOnly && !lines.every(isJson)) return `text beside JSON lines: ${stderr}`;
  if (/"code":"internal"|mistake in surveyctl/.test(stderr)) return `is a mistake of ours: ${stderr}`;
  if (![0, 1, 4, 5, ...(BULK.test(name) ? [3] : [])].includes(status)) return `ended with ${status}: ${stderr}`;
  if (status === 0 && errors.length > 0) return `errors with status 0: ${stderr}`;
  if (status !== 0 && status !== 3 && errors.length !== 1)
    return `ended with ${status} and ${errors.length} errors: ${stderr}`;
  const control = CONTROLS.exec(style.includes("table") ? stdout + stderr : stderr);
  if (control !== null) return `raw controls: ${JSON.stringify(control[0])}`;
  return status === 0 && !name.startsWith("api ") && style.includes("--json") && !isJson(stdout)
    ? `no JSON: ${stdout}`
    : "";
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text === "" ? "null" : text);
    return true;
  } catch {
    return false;
  }
}
