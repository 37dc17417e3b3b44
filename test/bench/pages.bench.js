// Latency of survey pages at 200 requests a second while the scheduler is paused and while the service stops. One in
// ten submits an answer. Each request is for a different person, so caches don't help.
import { readFileSync, readdirSync } from "node:fs";
import path from "node:path";
import { Pool } from "undici";
import { AUTHORIZATION, runProgram, startService, startStub, temporaryFolder } from "./programs.js";
import { send, sendAll } from "./load.js";
import { atMost, median, show } from "./report.js";

const PER_SECOND = 200;
const SECONDS = 5;
const ROUNDS = 3;
const BUSY_MS = 5;
/** A little longer than all rounds together. */
const ENDING_SECONDS = 36;
const PEOPLE = PER_SECOND * SECONDS;

/**
 * Milliseconds from when a request was due until its response is complete, so that a stall counts for all requests
 * after it.
 */
async function measureSteady(origin, request) {
  const pool = new Pool(origin, { connections: 32, pipelining: 1 });
  const began = performance.now();
  const one = async (index) => {
    const due = began + (index * 1000) / PER_SECOND;
    await new Promise((resolve) => setTimeout(resolve, due - performance.now()));
    // Timers that fire late count as well.
    const from = performance.now();
    await send(pool, request(index));
    return performance.now() - from;
  };
  const times = await Promise.all(Array.from({ length: PEOPLE }, (_, index) => one(index)));
  await pool.close();
  return times.toSorted((a, b) => a - b)[Math.floor(times.length * 0.99)];
}

const folder = temporaryFolder();
const dataFile = path.join(folder, "survey.db");
const service = await startService(dataFile);
const people = Array.from({ length: PEOPLE }, (_, index) => ({
  method: "POST",
  path: "/v1/people.json",
  headers: { authorization: AUTHORIZATION, "content-type": "application/json" },
  body: JSON.stringify({ email: `person${index}@example.com`, properties: { plan: "pro" } }),
}));
await sendAll(service.url, people);
const outbox = path.join(folder, "outbox");
const written = () => readdirSync(outbox).filter((name) => name.endsWith(".eml"));
for (let waited = 0; written().length < PEOPLE && waited < 120_000; waited += 100)
  await new Promise((resolve) => setTimeout(resolve, 100));
const tokens = written().map((name) => /\/s\/([\w-]+)/.exec(readFileSync(path.join(outbox, name), "utf8"))?.[1]);
if (tokens.length !== PEOPLE || tokens.includes(undefined)) throw new Error("not every survey was sent");
await runProgram(["service", "pause", "--quiet", "--data", dataFile]);

const page = (index) => {
  const target = `/s/${tokens[index]}?score=${index % 11}`;
  if (index % 10 !== 0) return { method: "GET", path: target };
  const headers = { "content-type": "application/x-www-form-urlencoded" };
  return { method: "POST", path: target, headers, body: `score=${index % 11}&comment=Works+every+day&by=script` };
};
const bytes = (await (await fetch(`${service.url}/s/${tokens[1]}?score=1`)).arrayBuffer()).byteLength;
const floor = await startStub("bare-server.js", String(bytes));

/** Starts a service that is stopping but still waits for a mail server's reply. */
async function startEnding() {
  const sink = await startStub("smtp-sink.js", String(ENDING_SECONDS * 1000));
  const args = [
    "--smtp",
    `smtp://127.0.0.1:${new URL(sink.url).port}`,
    "--smtp-from",
    "surveys@example.com",
    "--local-links",
  ];
  const ending = await startService(dataFile, args);
  await runProgram(["service", "resume", "--quiet", "--data", dataFile]);
  await sendAll(ending.url, [{ ...people[0], body: JSON.stringify({ email: "last@example.com" }) }]);
  const handed = /^surveyctl_delivery_queue\{state="transmitting"\} 1$/m;
  while (!handed.test(await (await fetch(`${ending.url}/metrics`)).text()))
    await new Promise((resolve) => setTimeout(resolve, 50));
  const ended = ending.stop();
  return { url: ending.url, ended, stop: () => Promise.all([ended, sink.stop()]) };
}

async function measureRounds(url) {
  const rounds = [];
  for (let round = 0; round < ROUNDS; round += 1)
    rounds.push([await measureSteady(url, page), await measureSteady(floor.url, page)]);
  return [0, 1].map((side) => median(rounds.map((each) => each[side])));
}

/** If the bare server is slow too, the machine is busy and the measurement is void. */
function judge(when, [ours, bare]) {
  show(`bare server at 200/s, p99 ms`, bare);
  if (bare <= BUSY_MS) atMost(`pages at 200/s while ${when}, p99 ms`, ours, 10);
  else atMost(`pages at 200/s while ${when}, p99 / bare`, ours / bare, 3);
}

judge("paused", await measureRounds(service.url));
await service.stop();
const ending = await startEnding();
judge("ending", await measureRounds(ending.url));
await Promise.all([ending.stop(), floor.stop()]);
