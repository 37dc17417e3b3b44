/** The thin adapter between `node:http` and the service function. */
import { createServer as createHttpServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { createServer as createHttpsServer } from "node:https";
import type { AddressInfo } from "node:net";
import type { Exchange, HttpResponse } from "../../contract/http.ts";
import { announcesTooMuch, BODY_MAX } from "./body.ts";

export interface ListenOptions {
  readonly host: string;
  /** 0 takes a free one. */
  readonly port: number;
  /** PEM; null for plain HTTP. */
  readonly tls: { readonly cert: string; readonly key: string } | null;
}

export interface Listening {
  /** Scheme, host and port. */
  readonly url: string;
  /** Stops accepting and resolves when every request in flight has been answered. */
  close(): Promise<void>;
  /** Cuts off whoever is still being answered, so that `close` resolves. */
  cut(): void;
}

/** After refusing a body, so much more of it is thrown away so that the client comes to read the refusal. */
const DISCARD_MAX = 16 * BODY_MAX;

/** Rejects with Node's own error, `EADDRINUSE` for one, when the address cannot be had. */
export async function listen(exchange: Exchange, { host, port, tls }: ListenOptions): Promise<Listening> {
  const server = tls === null ? createHttpServer() : createHttpsServer({ ...tls });
  const scheme = tls === null ? "http" : "https";
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, host, () => {
      server.off("error", reject);
      resolve();
    });
  });
  const url = formatOrigin(scheme, server.address() as AddressInfo);
  const drain = { closing: false };
  const serve = (incoming: IncomingMessage, outgoing: ServerResponse): void => {
    void answer(exchange, incoming, outgoing, scheme, url, drain);
  };
  server.on("request", serve);
  // `Expect: 100-continue`: whoever announces too much is not asked to go on.
  server.on("checkContinue", (incoming: IncomingMessage, outgoing: ServerResponse) => {
    if (!announcesTooMuch(incoming.headers["content-length"])) outgoing.writeContinue();
    serve(incoming, outgoing);
  });
  server.keepAliveTimeout = 30_000;
  return { url, close: () => closeServer(server, drain), cut: () => server.closeAllConnections() };
}

function formatOrigin(scheme: string, { address, family, port }: AddressInfo): string {
  return `${scheme}://${family === "IPv6" ? `[${address}]` : address}:${port}`;
}

function closeServer(server: Server, drain: { closing: boolean }): Promise<void> {
  drain.closing = true;
  return new Promise((resolve) => {
    server.close(() => resolve());
    server.closeIdleConnections();
  });
}

const HOST = /^(?:[\w.-]+|\[[\da-fA-F:.]+\])(?::\d{1,5})?$/;

async function answer(
  exchange: Exchange,
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  scheme: string,
  url: string,
  drain: { readonly closing: boolean },
): Promise<void> {
  try {
    const { method = "GET", headers } = incoming;
    const origin = headers.host !== undefined && HOST.test(headers.host) ? `${scheme}://${headers.host}` : url;
    const request = { method, url: origin + toPath(incoming.url ?? "/"), headers: headers as Record<string, string> };
    const body = hasBody(incoming) ? await readBody(incoming) : undefined;
    send(outgoing, await exchange(body === undefined ? request : { ...request, body }), drain.closing);
  } catch {
    // The client went away while it was sending, or what it sent was no HTTP: nobody is there to be answered.
    incoming.destroy();
  }
}

/** A proxy's absolute form has the path behind the host. */
function toPath(target: string): string {
  if (target.startsWith("/")) return target;
  return /^https?:\/\/[^/?]*(\/.*)?$/i.exec(target)?.[1] ?? "/*";
}

function hasBody({ headers }: IncomingMessage): boolean {
  return (
    headers["transfer-encoding"] !== undefined ||
    (headers["content-length"] !== undefined && headers["content-length"] !== "0")
  );
}

/** The body up to one byte more than is allowed; the rest is let through to nowhere, within bounds. */
function readBody(incoming: IncomingMessage): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  return new Promise((resolve, reject) => {
    const enough = announcesTooMuch(incoming.headers["content-length"]);
    if (enough) resolve(new Uint8Array());
    incoming.on("data", (chunk: Uint8Array) => {
      size += chunk.byteLength;
      if (!enough && size - chunk.byteLength <= BODY_MAX) chunks.push(chunk);
      if (size > BODY_MAX) resolve(joinUpTo(chunks.splice(0), BODY_MAX + 1));
      if (size > DISCARD_MAX) incoming.destroy();
    });
    incoming.on("end", () => resolve(joinUpTo(chunks, BODY_MAX + 1)));
    incoming.on("error", reject);
    incoming.on("close", () => {
      if (!incoming.complete) reject(new Error("the client went away"));
    });
  });
}

function joinUpTo(chunks: readonly Uint8Array[], length: number): Uint8Array {
  const [only] = chunks;
  const all = chunks.length === 1 && only !== undefined ? only : Buffer.concat(chunks);
  return all.subarray(0, length);
}

function send(outgoing: ServerResponse, { status, headers, body }: HttpResponse, closing: boolean): void {
  const text = typeof body === "string" ? body : "";
  const length = headers["content-length"] ?? Buffer.byteLength(text);
  outgoing.writeHead(status, { ...headers, "content-length": length, ...(closing ? { connection: "close" } : {}) });
  outgoing.end(text);
}
