// What the service answers, against a bare server with a constant body of the same size.
import { AUTHORIZATION, startService, startStub } from "./programs.js";
import { requestsPerSecond, send, sendAll } from "./load.js";
import { atLeast, median } from "./report.js";
import { Pool } from "undici";

const ROWS = 10_200;
const headers = { authorization: AUTHORIZATION, "content-type": "application/json" };
const post = (path, body) => ({ method: "POST", path, headers, body: JSON.stringify(body) });
const get = (path) => ({ method: "GET", path, headers });

const service = await startService();
const pool = new Pool(service.url);
const { id } = JSON.parse(await send(pool, post("/v1/people.json", { email: "list@example.com", send: false })));
const responses = Array.from({ length: ROWS }, (_, index) =>
  post("/v1/survey_responses.json", {
    person: id,
    score: index % 11,
    comment: "Works every day for us.",
    person_properties: { plan: "pro", region: "EMEA" },
  }),
);
await sendAll(service.url, responses);

/** Medians of alternating runs, so that a busy moment of the machine meets both. */
async function compare(one, other, rounds = 3) {
  const rates = [[], []];
  for (let round = 0; round < rounds; round += 1) {
    rates[0].push(await one());
    rates[1].push(await other());
  }
  return [median(rates[0]), median(rates[1])];
}

for (const [perPage, limit] of [
  [20, 0.25],
  [100, 0.12],
]) {
  const path = `/v1/survey_responses.json?per_page=${perPage}`;
  const floor = await startStub("bare-server.js", String(Buffer.byteLength(await send(pool, get(path)))));
  const [ours, bare] = await compare(
    () => requestsPerSecond(service.url, () => get(path)),
    () => requestsPerSecond(floor.url, () => get(path)),
  );
  atLeast(`pages of ${perPage} / bare server (${ours.toFixed(0)}/s)`, ours / bare, limit);
  await floor.stop();
}

const page = (number) => () => get(`/v1/survey_responses.json?page=${number}`);
const [last, first] = await compare(
  () => requestsPerSecond(service.url, page(500)),
  () => requestsPerSecond(service.url, page(1)),
);
atLeast("page 500 / page 1", last / first, 0.33);

let number = 0;
const person = () =>
  post("/v1/people.json", {
    email: `person${(number += 1)}@example.com`,
    name: "Ada",
    delay: 86_400,
    properties: { plan: "pro" },
  });
const floor = await startStub("bare-server.js", "160");
const [written, bare] = await compare(
  () => requestsPerSecond(service.url, person, { connections: 16 }),
  () => requestsPerSecond(floor.url, person, { connections: 16 }),
);
if (written >= 2000) atLeast("durable people a second, 16 clients", written, 2000);
else atLeast(`durable people / bare server (${written.toFixed(0)}/s)`, written / bare, 0.1);

await pool.close();
await Promise.all([service.stop(), floor.stop()]);
