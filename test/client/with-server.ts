import { onTestFinished } from "vitest";
import type { Client } from "../../src/client/client.ts";
import { createClient, type ClientOptions } from "../../src/client/create-client.ts";
import { undiciTransport, type TransportOptions } from "../../src/client/transport/undici-transport.ts";
import { createFakeClock, type FakeClock } from "../helpers/fake-clock.ts";
import {
  startMisbehavingServer,
  type MisbehavingOptions,
  type MisbehavingServer,
} from "../helpers/misbehaving-server.ts";
import { proxiedUrl } from "../helpers/proxy-server.ts";

export interface Pair {
  readonly client: Client;
  readonly server: MisbehavingServer;
  readonly clock: FakeClock;
  readonly seen: () => string[];
}

export const API_KEY = "key-of-the-test-0123456789";

export async function withServer(
  script: MisbehavingOptions["script"],
  options: {
    readonly server?: Omit<MisbehavingOptions, "script">;
    readonly client?: Partial<ClientOptions>;
    readonly transport?: Partial<TransportOptions>;
    readonly isProxied?: boolean;
    readonly basePath?: string;
  } = {},
): Promise<Pair> {
  const server = await startMisbehavingServer({ script, ...options.server });
  const clock = createFakeClock(Date.now());
  const baseUrl = `${options.isProxied === true ? proxiedUrl(server) : server.baseUrl}${options.basePath ?? ""}`;
  const transport = undiciTransport({ baseUrl, env: {}, timeoutMs: 5000, ...options.transport });
  const random = { fraction: () => 0.5, token: () => "token" };
  const client = createClient({ baseUrl, apiKey: API_KEY, transport, clock, random, ...options.client });
  onTestFinished(async () => {
    await client.close();
    await server.stop();
  });
  return { client, server, clock, seen: () => server.requests.map(({ method, target }) => `${method} ${target}`) };
}

export async function failureOf(promise: Promise<unknown>): Promise<Error> {
  return await promise.then(
    (value) => new Error(`nothing failed: ${JSON.stringify(value)}`),
    (error: unknown) => error as Error,
  );
}

export async function collect<T>(pages: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = [];
  for await (const page of pages) all.push(page);
  return all;
}
