// The service compared with a bare server that returns a constant body of the same size. Each request asks for a
// different page, person or range, with and without a write every ten requests. `--long` adds a million rows.
import { spawnSync } from "node:child_process";
import { mkdirSync, rmSync } from "node:fs";
import path from "node:path";
import { build } from "rolldown";
import { Pool } from "undici";
import { AUTHORIZATION, startService, startStub, temporaryFolder } from "./programs.js";
import { measureLoad, send } from "./load.js";
import { atLeast, atMost, median, show } from "./report.js";

const SIZES = process.argv.includes("--long") ? [100_000, 1_000_000] : [100_000];
const ROUNDS = 3;
/** In its first seconds, Node interprets most of the code; a service runs for months. */
const WARM_UP_SECONDS = 5;
const NOW = Math.floor(Date.now() / 1000);
const SPAN = 3 * 365 * 86_400;

const headers = { authorization: AUTHORIZATION, "content-type": "application/json" };
const post = (target, body) => ({ method: "POST", path: target, headers, body: JSON.stringify(body) });
const get = (target) => ({ method: "GET", path: target, headers });
const below = (count) => Math.floor(Math.random() * count);
const someTime = () => NOW - below(SPAN);

async function fillDataFile(rows) {
  const folder = path.join(import.meta.dirname, `../../node_modules/.bench-${process.pid}`);
  mkdirSync(folder, { recursive: true });
  process.on("exit", () => rmSync(folder, { recursive: true, force: true }));
  const script = path.join(folder, "fill-data-file.mjs");
  const input = path.join(import.meta.dirname, "fill-data-file.ts");
  const output = { file: script, codeSplitting: false };
  await build({ input, platform: "node", external: /^[^./]/, output, logLevel: "silent" });
  const file = path.join(temporaryFolder(), "survey.db");
  const { status } = spawnSync(process.execPath, [script, file, String(rows), String(NOW)], { stdio: "inherit" });
  if (status !== 0) throw new Error("the data file could not be filled");
  return file;
}

const metrics = () => {
  const since = someTime();
  return get(`/v1/metrics.json?since=${since}&until=${since + below(NOW - since)}`);
};
const pageSince = () => get(`/v1/survey_responses.json?since=${someTime()}&page=${1 + below(50)}`);
const changedSince = () => get(`/v1/survey_responses.json?updated_since=${someTime()}&order=asc:updated_at`);

/** Requests for a service with `rows` responses by as many people. */
function requestsOf(rows) {
  const storeResponse = () =>
    post("/v1/survey_responses.json", {
      person: String(1 + below(rows)),
      score: below(11),
      comment: "Works every day for us.",
      person_properties: { plan: "pro", region: "EMEA" },
    });
  const page = () => get(`/v1/survey_responses.json?page=${1 + below(rows / 20)}`);
  const person = () => get(`/v1/people.json?email=person${below(rows)}%40example.com`);
  const reads = [page, page, page, person, metrics, pageSince, changedSince];
  let number = 0;
  const mixed = () => ((number += 1) % 10 === 0 ? storeResponse() : reads[number % reads.length]());
  return { storeResponse, page, person, mixed };
}

/** Medians of alternating rounds, so that load from elsewhere affects both. */
async function compare(service, floor, request) {
  const rounds = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    const ours = await measureLoad(service.url, request);
    const bare = await measureLoad(floor.url, () => get("/"));
    rounds.push({ ratio: ours.perSecond / bare.perSecond, ...ours });
  }
  const middle = (name) => median(rounds.map((round) => round[name]));
  return { ratio: middle("ratio"), perSecond: middle("perSecond"), p99Ms: middle("p99Ms") };
}

/** Median milliseconds of sequential requests, each after a stored response. */
async function behindWrites(url, storeResponse, request) {
  const pool = new Pool(url);
  const times = [];
  for (let index = 0; index < 40; index += 1) {
    await send(pool, storeResponse());
    const began = performance.now();
    await send(pool, request());
    times.push(performance.now() - began);
  }
  await pool.close();
  return median(times);
}

async function measureLists(rows) {
  const name = `${rows / 1000}k rows: `;
  const file = await fillDataFile(rows);
  const began = performance.now();
  const service = await startService(file);
  show(`${name}start with an old file, s`, (performance.now() - began) / 1000);
  const asked = requestsOf(rows);
  const pool = new Pool(service.url);
  const bytes = async (request) => String(Buffer.byteLength(await send(pool, request)));
  const pageFloor = await startStub("bare-server.js", await bytes(asked.page()));
  const personFloor = await startStub("bare-server.js", await bytes(asked.person()));

  await measureLoad(service.url, asked.mixed, { seconds: WARM_UP_SECONDS });
  const pages = await compare(service, pageFloor, asked.page);
  atLeast(`${name}any page of 20 / bare (${pages.perSecond.toFixed(0)}/s)`, pages.ratio, 0.08);
  const people = await compare(service, personFloor, asked.person);
  atLeast(`${name}one person / bare (${people.perSecond.toFixed(0)}/s)`, people.ratio, 0.25);
  const mixed = await compare(service, pageFloor, asked.mixed);
  atLeast(
    `${name}a tenth stored / bare (${mixed.perSecond.toFixed(0)}/s)`,
    mixed.ratio,
    rows === 1_000_000 ? 0.03 : 0.05,
  );
  atMost(`${name}a tenth stored, p99 ms of 8`, mixed.p99Ms, 20);
  const { p99Ms } = await measureLoad(service.url, metrics, { connections: 1 });
  atMost(`${name}metrics of any range, p99 ms`, p99Ms, 20);

  atMost(`${name}any page behind writes, ms`, await behindWrites(service.url, asked.storeResponse, asked.page), 150);
  await pool.close();
  await Promise.all([service.stop(), pageFloor.stop(), personFloor.stop()]);
}

async function measureWrites() {
  const service = await startService();
  let number = 0;
  const person = () =>
    post("/v1/people.json", {
      email: `person${(number += 1)}@example.com`,
      name: "Ada",
      delay: 86_400,
      properties: { plan: "pro" },
    });
  const floor = await startStub("bare-server.js", "160");
  await measureLoad(service.url, person, { connections: 16, seconds: WARM_UP_SECONDS });
  const written = await measureLoad(service.url, person, { connections: 16 });
  const bare = await measureLoad(floor.url, person, { connections: 16 });
  const { perSecond } = written;
  if (perSecond >= 2000) show("durable people a second, 16 clients", perSecond);
  else atLeast(`durable people / bare server (${perSecond.toFixed(0)}/s)`, perSecond / bare.perSecond, 0.1);
  await Promise.all([service.stop(), floor.stop()]);
}

for (const rows of SIZES) await measureLists(rows);
await measureWrites();
