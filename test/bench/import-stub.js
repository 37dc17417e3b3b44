// A service that stores nothing and reports every person as new after a delay, in a separate process. Argument: latency
// in ms. `GET /posts` returns how many people came and an order-independent digest of their bodies.
import { createHash } from "node:crypto";
import { createServer } from "node:http";

const latencyMs = Number(process.argv[2] ?? 0);
const FIRST = 1_600_000_000;
let posts = 0;
let digest = 0;

const person = (id) =>
  `{"id":"${id}","email":"person.${id}@customers.example.com","name":"Person Number ${id}","created_at":${FIRST + id},"phone_number":null,"survey_scheduled_at":null,"properties":{"plan":"pro","region":"EMEA","customer_id":"${id}"}}`;

function take(body) {
  posts += 1;
  digest = (digest + createHash("md5").update(body).digest().readUInt32LE()) % 2 ** 32;
  return person(posts);
}

function send(reply, text) {
  reply.writeHead(200, { "content-type": "application/json; charset=utf-8" });
  reply.end(text);
}

function answer(request, body, reply) {
  if (request.method === "POST") {
    const text = take(body);
    if (latencyMs > 0) setTimeout(send, latencyMs, reply, text);
    else send(reply, text);
  } else if (request.url === "/posts") {
    send(reply, JSON.stringify({ posts, digest }));
    [posts, digest] = [0, 0];
  } else send(reply, "[]");
}

const server = createServer((request, reply) => {
  const chunks = [];
  request.on("data", (chunk) => chunks.push(chunk));
  request.on("end", () => answer(request, Buffer.concat(chunks), reply));
});
server.listen(0, "127.0.0.1", () => console.log(`listening on http://127.0.0.1:${server.address().port}`));
