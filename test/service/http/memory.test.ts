import { readFileSync } from "node:fs";
import { connect, type Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, beforeEach, expect, it } from "vitest";
import { size } from "../../helpers/long.ts";
import { startServeProcess, type ServedProcess } from "../../helpers/serve.ts";

const MIB = 1024 * 1024;
const STRANGERS = size(160, 600);
const SENDERS = size(110, 200);
/** A page is 13 MB. */
const READERS = size(6, 12);
const READERS_MIB = size(100, 200);
const TIMEOUT_MS = 180_000;
const state: { served?: ServedProcess; sockets: Socket[] } = { sockets: [] };
const served = (): ServedProcess => state.served as ServedProcess;

beforeEach(async () => {
  state.served = await startServeProcess();
});
afterEach(async () => {
  for (const socket of state.sockets.splice(0)) socket.destroy();
  await served().stop();
});

function residentMemory(): number {
  return Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${served().pid}/status`, "utf8"))?.[1]) / 1024;
}

/** Peak memory growth in MiB, measured for at least `seconds` and until `isDone`. */
async function growthDuring(seconds: number, isDone: () => boolean = () => true): Promise<number> {
  const before = residentMemory();
  let most = 0;
  for (let tick = 0; tick < seconds * 10 || !isDone(); tick += 1) {
    await sleep(100);
    most = Math.max(most, residentMemory() - before);
  }
  return most;
}

function open(text: string, more?: Uint8Array): Socket {
  const socket = connect(Number(new URL(served().baseUrl).port), "127.0.0.1", () => {
    socket.write(text);
    if (more !== undefined) socket.write(more);
  });
  socket.on("error", () => undefined);
  state.sockets.push(socket);
  return socket;
}

const head = (...lines: readonly string[]): string => [...lines, "", ""].join("\r\n");
const authorization = (): string => `Authorization: Basic ${btoa(`${served().apiKey}:`)}`;

it(
  `when ${STRANGERS} strangers each send a megabyte that never ends, then all are refused and the memory stays`,
  async () => {
    const statuses: string[] = [];
    const body = Buffer.alloc(MIB - 1, " ");
    for (let count = 0; count < STRANGERS; count += 1) {
      const text = head(
        "POST /v1/people HTTP/1.1",
        "Host: x",
        "Content-Type: application/json",
        `Content-Length: ${MIB}`,
      );
      open(text, body).once("data", (chunk: Buffer) => statuses.push(chunk.toString().slice(9, 12)));
    }
    expect(await growthDuring(size(1, 3), () => statuses.length === STRANGERS)).toBeLessThan(150);
    expect([statuses.length, new Set(statuses)]).toEqual([STRANGERS, new Set(["401"])]);
  },
  TIMEOUT_MS,
);

it(
  "when those with a key send more than 64 MiB at once, then those beyond it are told to come back",
  async () => {
    const answers: string[] = [];
    const body = Buffer.alloc(MIB - 1, " ");
    for (let count = 0; count < SENDERS; count += 1) {
      const text = head("POST /v1/people HTTP/1.1", "Host: x", authorization(), `Content-Length: ${MIB}`);
      open(text, body).once("data", (chunk: Buffer) => answers.push(chunk.toString()));
    }
    expect(await growthDuring(size(1, 3), () => answers.length > SENDERS - 100)).toBeLessThan(200);
    for (const answer of answers) expect(answer).toMatch(/^HTTP\/1\.1 503 [^]*\r\nretry-after: 1\r\n/);
  },
  TIMEOUT_MS,
);

it(
  `when ${READERS} clients ask for the largest page and do not read, then they cost less than ${READERS_MIB} MB`,
  async () => {
    const call = async (path: string, body: unknown): Promise<{ id: string }> => {
      const answer = await fetch(`${served().baseUrl}${path}`, {
        method: "POST",
        headers: { authorization: authorization().slice(15), "content-type": "application/json" },
        body: JSON.stringify(body),
      });
      return (await answer.json()) as { id: string };
    };
    const { id: person } = await call("/v1/people", { email: "a@x.co", send: false });
    const large = { person, score: 5, comment: "é".repeat(32_768), person_properties: { a: "ü".repeat(32_700) } };
    for (let count = 0; count < 100; count += 1) await call("/v1/survey_responses", large);
    const ask = head("GET /v1/survey_responses?per_page=100 HTTP/1.1", "Host: x", authorization(), "Connection: close");
    const sockets = Array.from({ length: READERS }, () => open(ask).pause());
    expect(await growthDuring(size(2, 4))).toBeLessThan(READERS_MIB);
    expect(residentMemory()).toBeLessThan(300);
    const texts = await Promise.all(
      sockets
        .slice(0, size(1, READERS))
        .map(async (socket) => Buffer.concat(await socket.resume().toArray()).toString()),
    );
    expect(new Set(texts.map((text) => text.length)).size).toBe(1);
    expect(texts[0]?.match(/"permalink"/g)).toHaveLength(100);
  },
  TIMEOUT_MS,
);
