// Load on a server: as many requests as a few kept-alive connections can carry.
import { Pool } from "undici";

/** Requests a second over `seconds`, after a short warm-up; every answer must be a 2xx. */
export async function requestsPerSecond(origin, request, { connections = 8, seconds = 2 } = {}) {
  const pool = new Pool(origin, { connections, pipelining: 1 });
  try {
    await round(pool, request, connections, 300);
    return (await round(pool, request, connections, seconds * 1000)) / seconds;
  } finally {
    await pool.close();
  }
}

async function round(pool, request, connections, ms) {
  const end = performance.now() + ms;
  let count = 0;
  const worker = async () => {
    while (performance.now() < end) {
      await send(pool, request());
      count += 1;
    }
  };
  await Promise.all(Array.from({ length: connections }, worker));
  return count;
}

export async function send(pool, request) {
  const { statusCode, body } = await pool.request(request);
  if (statusCode >= 300)
    throw new Error(`${request.method ?? "GET"} ${request.path}: ${statusCode} ${await body.text()}`);
  // Read, not parsed: the load must cost less than what it measures.
  return body.text();
}

/** Sends every request of `requests`, `connections` at a time. */
export async function sendAll(origin, requests, connections = 16) {
  const pool = new Pool(origin, { connections, pipelining: 1 });
  const queue = requests[Symbol.iterator]();
  const worker = async () => {
    for (const request of queue) await send(pool, request);
  };
  await Promise.all(Array.from({ length: connections }, worker));
  await pool.close();
}
