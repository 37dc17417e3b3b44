// Delivery of many events to one endpoint, with each attempt recorded on disk, compared with a bare loop of posts; and
// memory.
import { createHmac } from "node:crypto";
import { copyFileSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { measure, processorMs } from "./measured-process.js";
import { sendAll } from "./load.js";
import { PROGRAM, startService, startStub, temporaryFolder } from "./programs.js";
import { atLeast, atMost, median, show } from "./report.js";

const EVENTS = 10_000;
const ROUNDS = 3;
/** The service's connections per endpoint. */
const CONNECTIONS = 4;
const LOOK_MS = 100;

const receiver = await startStub("bare-server.js");
const folder = temporaryFolder();
const history = path.join(folder, "responses.csv");
const row = (at) => `person${at}@example.com,${at % 11},Works every day for us.,2024-05-06T07:08:09Z\n`;
writeFileSync(
  history,
  `person_email,score,comment,created_at\n${Array.from({ length: EVENTS }, (_, at) => row(at)).join("")}`,
);

async function prepare() {
  const dataFile = path.join(folder, "due.db");
  await (await startService(dataFile)).stop();
  const service = (...args) => measure(PROGRAM, ["service", ...args, "--data", dataFile, "--quiet"]);
  await service("webhook", "add", `${receiver.url}/hook`, "--allow-private");
  await service("import", history, "--webhooks");
  return dataFile;
}

const memoryMb = (pid) => Number(/VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]) / 1024;

async function deliver(round) {
  const dataFile = path.join(folder, `round-${round}.db`);
  copyFileSync(due, dataFile);
  const service = await startService(dataFile);
  const delivered = async () => {
    const text = await (await fetch(`${service.url}/metrics`)).text();
    return Number(/^surveyctl_webhook_attempts_total\{outcome="delivered"\} (\d+)$/m.exec(text)?.[1]);
  };
  const until = async (count) => {
    for (;;) {
      const now = await delivered();
      if (now >= count)
        return { count: now, ms: performance.now(), cpuMs: processorMs(service.pid), mb: memoryMb(service.pid) };
      await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
    }
  };
  const [early, late] = [await until(EVENTS / 5), await until(EVENTS)];
  await service.stop();
  const count = late.count - early.count;
  return {
    perSecond: (count * 1000) / (late.ms - early.ms),
    perCpuSecond: (count * 1000) / (late.cpuMs - early.cpuMs),
    grownMb: late.mb - early.mb,
  };
}

const sign = (text) => createHmac("sha256", "whsec").update(text).digest("base64");

/** Sends the same number of signed posts without recording them. */
async function deliverBare() {
  const body = JSON.stringify({ event_type: "survey_response.created", event_data: "x".repeat(700) });
  function* posts() {
    for (let at = 0; at < EVENTS; at += 1) {
      const headers = { "webhook-signature": sign(`${at}.${body}`), "x-webhook-signature": sign(body) };
      yield { method: "POST", path: "/hook", headers, body };
    }
  }
  const began = performance.now();
  await sendAll(receiver.url, posts(), CONNECTIONS);
  return (EVENTS * 1000) / (performance.now() - began);
}

const due = await prepare();
const rounds = [];
for (let round = 0; round < ROUNDS; round += 1) rounds.push({ ...(await deliver(round)), bare: await deliverBare() });
const middle = (figure) => median(rounds.map(figure));
show(
  "webhooks, bare loop of 4 connections, posts/s",
  middle(({ bare }) => bare),
);
atLeast(
  `webhooks, ${EVENTS} events to 1 endpoint, events/s`,
  middle(({ perSecond }) => perSecond),
  500,
);
show(
  "webhooks: events a second of processor time",
  middle(({ perCpuSecond }) => perCpuSecond),
);
show(
  "webhooks: ours / bare loop",
  middle(({ perSecond, bare }) => perSecond / bare),
);
atMost(
  "webhooks: memory grown meanwhile, MB",
  middle(({ grownMb }) => grownMb),
  30,
);
await receiver.stop();
