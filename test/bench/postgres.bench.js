// PostgreSQL: durable posts compared with a bare server and with this project's rows in one transaction per request;
// pages during writes compared with a bare SELECT; one process with many projects.
import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, rmSync } from "node:fs";
import path from "node:path";
import { Client } from "pg";
import { build } from "rolldown";
import { Pool } from "undici";
import { AUTHORIZATION, processorMs, PROGRAM, startStub, startServing, temporaryFolder } from "./programs.js";
import { measureLoad, send } from "./load.js";
import { atLeast, median, show } from "./report.js";

const ROUNDS = 5;
/** In its first seconds, Node interprets most of the code; a service runs for months. */
const WARM_UP_SECONDS = 10;
const CLIENTS = 16;
const PROJECTS = process.argv.includes("--long") ? 50 : 8;
const PEOPLE = process.argv.includes("--long") ? 100_000 : 20_000;

/** Starts a cluster that syncs to disk; null if PostgreSQL isn't installed. */
function startCluster() {
  const folders = existsSync("/usr/lib/postgresql") ? readdirSync("/usr/lib/postgresql").toSorted((a, b) => b - a) : [];
  const bin = folders.map((version) => `/usr/lib/postgresql/${version}/bin`).find((folder) => existsSync(folder));
  if (bin === undefined) return null;
  const folder = temporaryFolder();
  const data = path.join(folder, "data");
  const isRoot = process.getuid() === 0;
  if (isRoot) execFileSync("chown", ["postgres", folder]);
  const run = (program, ...args) => {
    const command = [...(isRoot ? ["runuser", "-u", "postgres", "--"] : []), path.join(bin, program), ...args];
    const { status, stderr } = spawnSync(command[0], command.slice(1), { encoding: "utf8" });
    if (status !== 0) throw new Error(`${program}: ${stderr}`);
  };
  run("initdb", "-D", data, "-A", "trust", "-E", "UTF8", "--locale=C", "-U", "postgres");
  const options = `-c listen_addresses='' -k ${folder} -p 5432 -c max_connections=100`;
  run("pg_ctl", "-D", data, "-l", path.join(folder, "log"), "-w", "-o", options, "start");
  // Runs before the folder is removed.
  process.prependOnceListener("exit", () => run("pg_ctl", "-D", data, "-m", "immediate", "stop"));
  const url = (name) => `postgres:///${name}?host=${encodeURIComponent(folder)}&port=5432&user=postgres`;
  return { url };
}

const cluster = startCluster();
if (cluster === null) {
  console.log("PostgreSQL is not installed: nothing was measured");
  process.exit(0);
}

async function newDatabase(name) {
  const client = new Client({ connectionString: cluster.url("postgres") });
  await client.connect();
  await client.query(`CREATE DATABASE ${name}`);
  await client.end();
  return cluster.url(name);
}

async function buildStraightPort() {
  const folder = path.join(import.meta.dirname, `../../node_modules/.bench-${process.pid}`);
  mkdirSync(folder, { recursive: true });
  process.on("exit", () => rmSync(folder, { recursive: true, force: true }));
  const file = path.join(folder, "straight-port.mjs");
  const input = path.join(import.meta.dirname, "straight-port.ts");
  const output = { file, codeSplitting: false };
  await build({ input, platform: "node", external: /^[^./]/, output, logLevel: "silent" });
  return file;
}

const serve = (url, ...args) =>
  startServing(["--database", url, "--outbox", path.join(temporaryFolder(), "outbox"), ...args]);
const headersOf = (authorization) => ({ authorization, "content-type": "application/json" });
let number = 0;
const person = (authorization = AUTHORIZATION) => {
  number += 1;
  const body = { email: `person${number}@example.com`, name: "Ada", delay: 86_400, properties: { plan: "pro" } };
  return { method: "POST", path: "/v1/people.json", headers: headersOf(authorization), body: JSON.stringify(body) };
};

/**
 * Rates, and processor time in microseconds, of each server. They alternate, so that load from elsewhere affects all.
 */
async function takeTurns(servers, request) {
  const measured = servers.map(() => []);
  for (let round = 0; round <= ROUNDS; round += 1)
    for (const [at, server] of servers.entries()) {
      const before = processorMs(server.pid);
      const seconds = round === 0 ? WARM_UP_SECONDS : 2;
      const { perSecond, count } = await measureLoad(server.url, request, { connections: CLIENTS, seconds });
      if (round > 0) measured[at].push({ perSecond, cpuUs: ((processorMs(server.pid) - before) * 1000) / count });
    }
  return measured;
}

const ratio = (ours, floor) => median(ours.map(({ perSecond }, at) => perSecond / floor[at].perSecond));
const middle = (rounds, name) => median(rounds.map((round) => round[name]));

async function measurePosts(service, served) {
  const own = await newDatabase("bare");
  const bare = await startStub("postgres-floor.js", own, served);
  const plain = await startStub("postgres-floor.js", own, served, "plain");
  const straight = await startStub(await buildStraightPort(), await newDatabase("straight"));
  const [ours, floor, plainFloor, port] = await takeTurns([service, bare, plain, straight], () => person());
  atLeast(`durable posts / bare transactions (${middle(ours, "perSecond").toFixed(0)}/s)`, ratio(ours, floor), 0.3);
  show("durable posts / bare INSERTs", ratio(ours, plainFloor));
  atLeast(`durable posts / straight port (${middle(port, "perSecond").toFixed(0)}/s)`, ratio(ours, port), 1);
  show("processor of a post, us", middle(ours, "cpuUs"));
  show("processor of a bare transaction, us", middle(floor, "cpuUs"));
  await Promise.all([plain.stop(), straight.stop()]);
  return bare;
}

/** Random pages from both servers while people are being stored. */
async function measurePages(service, bare, served) {
  const client = new Client({ connectionString: served });
  await client.connect();
  await client.query(`INSERT INTO people (project_id, id, email, email_key, name, created_at)
    SELECT 1, 10000000 + n, 'old' || n || '@example.com', 'old' || n || '@example.com', 'Ada', 1600000000 + n
    FROM generate_series(1, ${PEOPLE}) AS n`);
  await client.query("ANALYZE people");
  await client.end();
  const place = () => Math.floor(Math.random() * (PEOPLE - 200));
  const headers = headersOf(AUTHORIZATION);
  const ask = () => ({ method: "GET", path: `/v1/people.json?per_page=100&since=${1_600_000_000 + place()}`, headers });
  const askBare = () => ({ method: "GET", path: `/?at=${1_600_000_000 + place()}&id=0`, headers });
  const writing = { isOver: false };
  const pool = new Pool(service.url);
  const writer = (async () => {
    while (!writing.isOver) await send(pool, person());
  })();
  const ratios = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    const ours = await measureLoad(service.url, ask);
    const floor = await measureLoad(bare.url, askBare);
    ratios.push(ours.perSecond / floor.perSecond);
  }
  writing.isOver = true;
  await writer;
  await pool.close();
  atLeast("pages of 100 while others write / bare SELECT", median(ratios), 0.3);
}

/** Many projects over all connections, compared with one project. */
async function measureProjects(service, served) {
  const keys = [];
  for (let at = 0; at < PROJECTS; at += 1) {
    const args = ["service", "project", "add", `p${at}`, "--json", "--database", served];
    const { stdout } = spawnSync(process.execPath, [PROGRAM, ...args], { encoding: "utf8" });
    keys.push(`Basic ${Buffer.from(`${JSON.parse(stdout).key}:`).toString("base64")}`);
  }
  const narrow = await serve(`${served}&max=1`);
  let turn = 0;
  const anyOf = () => person(keys[(turn += 1) % keys.length]);
  const [wide, one] = await takeTurns([service, narrow], anyOf);
  atLeast(`posts to ${PROJECTS} projects, 10 connections / 1`, ratio(wide, one), 1);
  await narrow.stop();
}

const served = await newDatabase("served");
const service = await serve(served);
const bare = await measurePosts(service, served);
await measurePages(service, bare, served);
await measureProjects(service, served);
await Promise.all([service.stop(), bare.stop()]);
