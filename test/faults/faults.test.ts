import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, describe, it } from "vitest";
import { startMisbehavingServer } from "../helpers/misbehaving-server.ts";
import { runInProcess } from "../helpers/in-process.ts";
import { isLong } from "../helpers/long.ts";
import type { CalledCommand } from "./commands.ts";
import { FAULTS, type Fault } from "./faults.ts";
import { commandNames, commandsIn, matchGolden, fileName, goodRead, inTurns, sampled, type Table } from "./table.ts";

let folder = "";

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), "surveyctl-faults-"));
});

afterAll(async () => await rm(folder, { recursive: true, force: true }));

/** Reads 64 MiB each time. In the short run memory.test.ts does this for one command. */
const DEAR = "a body of 1 GB in chunks";
const MET = Object.entries(FAULTS).filter(([name]) => isLong || name !== DEAR);

describe.concurrent("every command against a fault", () => {
  it.for(MET)("%s", async ([name, fault], { expect }) => {
    const table = await tableOf(name, fault, { onlyWrites: false });
    await expect(matchGolden(expect, `faults/${fileName(name)}.txt`, table)).resolves.toBeUndefined();
  });
});

describe.concurrent("every write against a fault that spares the reads", () => {
  const faults = MET.filter(([, { refuses, resetsConnections }]) => refuses !== true && resetsConnections !== true);
  it.for(faults)("%s", async ([name, fault], { expect }) => {
    const table = await tableOf(name, fault, { onlyWrites: true });
    await expect(matchGolden(expect, `faults/writes/${fileName(name)}.txt`, table)).resolves.toBeUndefined();
  });
});

/** In the short run each fault meets one command in twenty, and each command one fault in twenty. */
const SHARE = 20;

async function tableOf(name: string, fault: Fault, { onlyWrites }: { readonly onlyWrites: boolean }): Promise<Table> {
  const server = await startMisbehavingServer({
    script: (request) => (onlyWrites && request.method === "GET" ? goodRead(request) : fault.behaviour),
    ...(fault.resetsConnections === true && { resetConnection: () => true }),
  });
  if (fault.refuses === true) await server.stop();
  try {
    const place = path.join(folder, onlyWrites ? "writes" : "all", fileName(name));
    const commands = commandNames({ onlyWrites });
    const some = await commandsIn(place, sampled(commands, { share: SHARE, turn: Object.keys(FAULTS).indexOf(name) }));
    const lines = await inTurns(some, fault.atOnce ?? 8, async ({ command, home }) => {
      const line = await cell(command, home, server.baseUrl, fault);
      return line
        .replaceAll(server.baseUrl, "http://service")
        .replaceAll(`127.0.0.1:${server.port}`, "service")
        .replaceAll(home, "~");
    });
    return { title: `${name}${onlyWrites ? ", to writes only" : ""}`, commands, lines };
  } finally {
    await server.stop();
  }
}

async function cell(
  { name, args, stdin }: CalledCommand,
  home: string,
  baseUrl: string,
  fault: Fault,
): Promise<string> {
  const flags = ["--retries", "1", "--max-wait", "2", ...(fault.flags ?? []), "--quiet", "--base-url", baseUrl];
  const env = {
    HOME: home,
    XDG_CONFIG_HOME: home,
    SURVEYCTL_SETTLE: "0",
    ...(name === "auth login" ? {} : { SURVEYCTL_API_KEY: "key-of-the-faults" }),
  };
  const { status, stderr } = await runInProcess({
    args: [...args, ...flags],
    env,
    ...(stdin !== undefined && { stdin }),
  });
  return `${name.padEnd(24)}${status}  ${fault.resetsConnections === true ? roughly(stderr) : firstLine(stderr)}\n${await halfWritten(home)}${await rowsOf(home)}`;
}

/** The error if any, otherwise the first line, without anything that depends on timing. */
function firstLine(stderr: string): string {
  const lines = stderr.split("\n");
  const line = lines.find((one) => one.startsWith("error:")) ?? lines[0] ?? "";
  return line
    .replaceAll(/broke before (?:the request was sent|the answer was complete)/g, "broke")
    .replaceAll(/autopilot\/(?:email|sms)\.json/g, "autopilot/PLATFORM.json");
}

/** Whether the request left before the connection broke is a race, and so is everything that follows. */
function roughly(stderr: string): string {
  return /broke before .*\(ECONNRESET\)/.test(stderr)
    ? "error: … the connection to service broke (ECONNRESET) …"
    : firstLine(stderr);
}

/** Failed commands must not leave temporary files or exports. */
async function halfWritten(home: string): Promise<string> {
  const left = (await readdir(home)).filter((name) => name.includes(".tmp") || name.startsWith("."));
  return left.map((name) => `${" ".repeat(27)}left: ${name}\n`).join("");
}

async function rowsOf(home: string): Promise<string> {
  const results = await readFile(path.join(home, "results.csv"), "utf8").catch(() => "");
  const rows = results.split("\n").slice(1, -1);
  return rows.map((row) => `${" ".repeat(27)}${row}\n`).join("");
}
