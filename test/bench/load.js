// Load on a server over a few keep-alive connections.
import { Pool } from "undici";

/**
 * Requests per second over `seconds` after a short warm-up, and the 99th percentile of latency. Every response must be
 * a 2xx.
 */
export async function measureLoad(origin, request, { connections = 8, seconds = 2 } = {}) {
  const pool = new Pool(origin, { connections, pipelining: 1 });
  try {
    const first = await round(pool, request, connections, 300);
    const times = (await round(pool, request, connections, seconds * 1000)).toSorted((a, b) => a - b);
    return {
      perSecond: times.length / seconds,
      count: first.length + times.length,
      p99Ms: times[Math.floor(times.length * 0.99)],
    };
  } finally {
    await pool.close();
  }
}

/** Latency of each request in milliseconds. */
async function round(pool, request, connections, ms) {
  const end = performance.now() + ms;
  const times = [];
  const worker = async () => {
    for (let began = performance.now(); began < end; began = performance.now()) {
      await send(pool, request());
      times.push(performance.now() - began);
    }
  };
  await Promise.all(Array.from({ length: connections }, worker));
  return times;
}

export async function send(pool, request) {
  const { statusCode, body } = await pool.request(request);
  if (statusCode >= 300)
    throw new Error(`${request.method ?? "GET"} ${request.path}: ${statusCode} ${await body.text()}`);
  // Reads the body without parsing it, so that the load costs less than what it measures.
  return body.text();
}

/** Sends all requests, `connections` at a time. */
export async function sendAll(origin, requests, connections = 16) {
  const pool = new Pool(origin, { connections, pipelining: 1 });
  const queue = requests[Symbol.iterator]();
  const worker = async () => {
    for (const request of queue) await send(pool, request);
  };
  await Promise.all(Array.from({ length: connections }, worker));
  await pool.close();
}
