import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, describe, it } from "vitest";
import { json, startMisbehavingServer, type Behaviour, type SeenRequest } from "../helpers/misbehaving-server.ts";
import { until } from "../helpers/process-list.ts";
import { startProgram } from "../helpers/run-cli.ts";
import type { CalledCommand } from "./commands.ts";
import { commandNames, commandsIn, matchGolden, fileName, inTurns, sampled, type Placed, type Table } from "./table.ts";

let folder = "";

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), "surveyctl-signals-"));
});

afterAll(async () => await rm(folder, { recursive: true, force: true }));

type Stop = "SIGINT" | "SIGTERM" | "SIGHUP" | "closed stdout";

/** With `closed stdout` the reader disappears during the request, then the response arrives. */
const STOPS: readonly Stop[] = ["SIGINT", "SIGTERM", "SIGHUP", "closed stdout"];

describe.concurrent("every command that is stopped while its request hangs", () => {
  it.for(STOPS)("%s", async (stop, { expect }) => {
    const table = await tableOf(stop, { onlyWrites: false });
    await expect(matchGolden(expect, `signals/${fileName(stop)}.txt`, table)).resolves.toBeUndefined();
  });

  it("SIGTERM, while a write hangs", async ({ expect }) => {
    const table = await tableOf("SIGTERM", { onlyWrites: true });
    await expect(matchGolden(expect, "signals/sigterm-writes.txt", table)).resolves.toBeUndefined();
  });
});

/** In the short run every fourth command meets one of the four. */
const SHARE = 4 * STOPS.length;

async function tableOf(stop: Stop, { onlyWrites }: { readonly onlyWrites: boolean }): Promise<Table> {
  const place = path.join(folder, fileName(stop), onlyWrites ? "writes" : "all");
  const commands = commandNames({ onlyWrites });
  const some = await commandsIn(place, sampled(commands, { share: SHARE, turn: STOPS.indexOf(stop) }));
  const lines = await inTurns(some, 2, (placed) => lineOf(placed, stop, onlyWrites));
  return { title: `${stop}${onlyWrites ? ", while a write hangs" : ""}`, commands, lines };
}

async function lineOf({ command, home }: Placed, stop: Stop, onlyWrites: boolean): Promise<string> {
  const state = { hangs: false, isStopped: false };
  const script = (request: SeenRequest): Behaviour => {
    if (state.isStopped || (onlyWrites && request.method === "GET")) return goodAnswer(request);
    state.hangs = true;
    return async (socket) => {
      await until(() => state.isStopped);
      await goodAnswer(request)(socket, request);
    };
  };
  const server = await startMisbehavingServer({ script: (request) => script(request) });
  const running = startProgram({
    args: [...command.args, "--base-url", server.baseUrl],
    home,
    env: environmentOf(command, home),
  });
  running.child.stdin.end(command.stdin ?? "");
  // A command that ends earlier shows it in its line.
  await Promise.race([until(() => state.hangs), running.ended]);
  if (stop !== "closed stdout") running.child.kill(stop);
  else running.child.stdout.destroy();
  state.isStopped = stop === "closed stdout";
  const { status, signal, stderr } = await running.ended;
  await server.stop();
  const said = stderr.split("\n").filter((line) => /^(?:error|hint):/.test(line));
  return `${`${command.name.padEnd(24)}${status ?? signal}  ${said.join("; ")}`.trimEnd()}\n${await leftIn(home)}`;
}

function environmentOf({ name }: CalledCommand, home: string): Record<string, string> {
  return { XDG_CONFIG_HOME: home, ...(name === "auth login" ? {} : { SURVEYCTL_API_KEY: "key-of-the-signals" }) };
}

function goodAnswer(request: SeenRequest): Behaviour {
  const id = /survey_responses\/(\d+)/.exec(request.target)?.[1] ?? "1";
  const row = { id, person: "1", person_id: "1", email: "ann@example.com", score: 9, notes: [], tags: [] };
  const isList = request.method === "GET" && !/metrics|autopilot\/\w+\.json|survey_responses\/\d/.test(request.target);
  return json(isList ? [row] : row);
}

async function leftIn(home: string): Promise<string> {
  const left = (await readdir(home)).filter((name) => !GIVEN.has(name)).toSorted();
  const rows = (await readFile(path.join(home, "results.csv"), "utf8").catch(() => "")).split("\n").slice(1, -1);
  return [...left.map((name) => `left: ${name}`), ...rows].map((line) => `${" ".repeat(24)}${line}\n`).join("");
}

const GIVEN = new Set(["people.csv", "answers.csv", "summary.md"]);
