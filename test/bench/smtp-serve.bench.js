// Mail through `serve`, with a durable mark before each final dot, to a local server that accepts everything; and the
// API's latency during that time.
import path from "node:path";
import { measureLoad, sendAll } from "./load.js";
import { AUTHORIZATION, startService, startStub, temporaryFolder } from "./programs.js";
import { atLeast, atMost, median, show } from "./report.js";

const MESSAGES = 3000;
const ROUNDS = 3;
/** All are due at the same time, so none is sent while the others are still being stored. */
const STORING_SECONDS = 10;

const headers = { authorization: AUTHORIZATION, "content-type": "application/json" };
const sink = await startStub("smtp-sink.js");
const args = [
  "--smtp",
  `smtp://127.0.0.1:${new URL(sink.url).port}`,
  "--smtp-from",
  "surveys@example.com",
  "--local-links",
];

async function sentBy(url) {
  const text = await (await fetch(`${url}/metrics`)).text();
  return Number(/^surveyctl_delivery_total\{channel="email",outcome="sent"\} (\d+)$/m.exec(text)?.[1]);
}

function* people(dueAt) {
  for (let number = 0; number < MESSAGES; number += 1) {
    const delay = Math.max(0, Math.round((dueAt - Date.now()) / 1000));
    const body = JSON.stringify({ email: `p${number}@example.org`, name: "Ada Lovelace", delay });
    yield { method: "POST", path: "/v1/people.json", headers, body };
  }
}

/** Messages per second, from when they are due until the last is recorded as sent. `meanwhile` runs concurrently. */
async function mailOut(meanwhile = async () => undefined) {
  const dataFile = path.join(temporaryFolder(), "survey.db");
  const service = await startService(dataFile, [...args, "--smtp-rate", "100000/s"]);
  const dueAt = Math.ceil(Date.now() / 1000 + STORING_SECONDS) * 1000;
  await sendAll(service.url, people(dueAt));
  if (Date.now() > dueAt) throw new Error("storing took longer than the surveys wait");
  while ((await sentBy(service.url)) === 0) await new Promise((resolve) => setTimeout(resolve, 5));
  const [began, before] = [performance.now(), await sentBy(service.url)];
  const other = meanwhile(service.url);
  while ((await sentBy(service.url)) < MESSAGES) await new Promise((resolve) => setTimeout(resolve, 20));
  const perSecond = ((MESSAGES - before) * 1000) / (performance.now() - began);
  const found = await other;
  await service.stop();
  return { perSecond, found };
}

const page = () => ({ method: "GET", path: "/v1/people.json?per_page=20", headers });

const alone = [];
for (let round = 0; round < ROUNDS; round += 1) alone.push((await mailOut()).perSecond);
atLeast("serve, mail to 4 connections, messages/s", median(alone), 300);
const busy = await mailOut((url) => measureLoad(url, page, { connections: 2, seconds: 3 }));
show("the same while the API is read, messages/s", busy.perSecond);
atMost("API while mail goes out, p99 ms of 2", busy.found.p99Ms, 50);
await sink.stop();
