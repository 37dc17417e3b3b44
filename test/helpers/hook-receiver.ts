import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from "node:http";
import { createServer as createTlsServer } from "node:https";
import type { AddressInfo } from "node:net";

export interface ReceivedHook {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
  readonly at: number;
}

/** `n` counts requests to the path from 1. */
export type HookPlan = (n: number, response: ServerResponse, request: IncomingMessage) => void;

export interface HookReceiver {
  readonly url: string;
  readonly port: number;
  readonly received: readonly ReceivedHook[];
  readonly on: (path: string) => readonly ReceivedHook[];
  readonly until: (path: string, count: number) => Promise<readonly ReceivedHook[]>;
  readonly dropConnections: () => void;
  readonly close: () => Promise<void>;
}

export function answering(...statuses: readonly number[]): HookPlan {
  return (n, response) => {
    response.writeHead(statuses[n - 1] ?? statuses.at(-1) ?? 200);
    response.end(`answer ${n}`);
  };
}

export const hanging: HookPlan = () => undefined;

export const tricklingHeaders: HookPlan = (_, response) => {
  const { socket } = response;
  socket?.write("HTTP/1.1 200 OK\r\nx-slow: ");
  const timer = setInterval(() => socket?.write("a"), 20);
  socket?.on("close", () => clearInterval(timer));
};

export function largeBody(bytes: number): HookPlan {
  return (_, response) => {
    response.writeHead(200);
    response.end("x".repeat(bytes));
  };
}

/** Paths without a plan return 200. `tls` takes PEM texts and turns plain HTTP off. */
export async function startHookReceiver(
  plans: Readonly<Record<string, HookPlan>> = {},
  tls: { readonly cert: string; readonly key: string } | null = null,
): Promise<HookReceiver> {
  const received: ReceivedHook[] = [];
  const waiting: (() => void)[] = [];
  const on = (path: string): ReceivedHook[] => received.filter((hook) => hook.path === path);
  const counts = new Map<string, number>();
  const take = (request: IncomingMessage, response: ServerResponse): void => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const path = request.url ?? "";
      const n = (counts.get(path) ?? 0) + 1;
      counts.set(path, n);
      received.push({ path, headers: request.headers, body: Buffer.concat(chunks).toString(), at: performance.now() });
      (plans[path] ?? answering(200))(n, response, request);
      for (const look of waiting.splice(0)) look();
    });
  };
  const server = tls === null ? createServer(take) : createTlsServer(tls, take);
  await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `${tls === null ? "http" : "https"}://127.0.0.1:${port}`,
    port,
    received,
    on,
    until: async (path, count) => {
      while ((counts.get(path) ?? 0) < count) await new Promise<void>((resolve) => void waiting.push(resolve));
      return on(path);
    },
    dropConnections: () => server.closeIdleConnections(),
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => void server.close(resolve));
    },
  };
}
