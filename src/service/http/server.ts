/** Adapts `node:http` to the service function. */
import {
  createServer as createHttpServer,
  STATUS_CODES,
  type IncomingMessage,
  type Server,
  type ServerOptions,
  type ServerResponse,
} from "node:http";
import { createServer as createHttpsServer } from "node:https";
import type { AddressInfo, Socket } from "node:net";
import type { HttpResponse } from "../../contract/http.ts";
import { Bodies, RequestBody } from "./bodies.ts";
import type { HttpHandler } from "./http-service.ts";
import { HttpError } from "./replies.ts";

export interface ListenOptions {
  readonly host: string;
  /** 0 chooses a free port. */
  readonly port: number;
  /** A listening TCP socket to use instead of host and port. */
  readonly descriptor?: number | null;
  /** Called with the bound address before any request is read; an error ends the listening. */
  readonly check?: (host: string) => void;
  /** PEM; null for plain HTTP. */
  readonly tls: { readonly cert: string; readonly key: string } | null;
  /** Defaults to limits that are safe for a public server. */
  readonly limits?: ListenLimits;
}

interface ListenLimits {
  readonly connections: number;
  /** Milliseconds from a request's first to its last byte. */
  readonly requestMs: number;
  /** Milliseconds without progress after which a client that doesn't read its answer is cut off. */
  readonly unreadMs: number;
}

export interface Listening {
  readonly url: string;
  /** Stops accepting, and resolves when every request in flight has been answered. */
  close(): Promise<void>;
  /** Closes all remaining connections, so that `close` resolves. */
  cut(): void;
}

class NoTcpSocketError extends Error {
  override readonly name = "NoTcpSocketError";
}

const LIMITS: ListenLimits = { connections: 10_000, requestMs: 30_000, unreadMs: 30_000 };
/** Longer than the idle timeout of load balancers (60 s): they should close first. */
const KEEP_ALIVE_MS = 75_000;
/** A refused connection is kept open this long so the client can read the error. */
const LINGER_MS = 2_000;

/** The newest request of a connection. */
interface Exchange {
  readonly body: RequestBody | null;
  readonly outgoing: ServerResponse;
  /** The client waits with the body until it is told to send it. */
  isWaiting: boolean;
  /** What follows it isn't HTTP. */
  isLast: boolean;
}

interface Listener {
  readonly handler: HttpHandler;
  readonly scheme: "http" | "https";
  readonly url: string;
  readonly limits: ListenLimits;
  readonly bodies: Bodies;
  readonly exchanges: WeakMap<Socket, Exchange>;
  closing: boolean;
}

/** Rejects with Node's error, such as `EADDRINUSE`. */
export async function listen(handler: HttpHandler, options: ListenOptions): Promise<Listening> {
  const { host, port, descriptor = null, tls, limits = LIMITS } = options;
  const settings: ServerOptions = {
    requestTimeout: limits.requestMs,
    headersTimeout: limits.requestMs,
    connectionsCheckingInterval: Math.ceil(limits.requestMs / 6),
    // We reject a missing Host ourselves, with a JSON body.
    requireHostHeader: false,
  };
  const server = tls === null ? createHttpServer(settings) : createHttpsServer({ ...settings, ...tls });
  server.maxConnections = limits.connections;
  server.keepAliveTimeout = KEEP_ALIVE_MS;
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(descriptor === null ? { port, host } : { fd: descriptor }, () => {
      server.off("error", reject);
      resolve();
    });
  });
  const scheme = tls === null ? "http" : "https";
  const url = formatOrigin(scheme, readAddress(server, options));
  const listener: Listener = {
    handler,
    scheme,
    url,
    limits,
    bodies: new Bodies(),
    exchanges: new WeakMap(),
    closing: false,
  };
  serveRequests(server, listener);
  refuseWhatIsNotHttp(server, listener);
  return { url, close: () => closeServer(server, listener), cut: () => server.closeAllConnections() };
}

function readAddress(server: Server, { check }: ListenOptions): AddressInfo {
  try {
    const address = server.address();
    if (address === null || typeof address === "string")
      throw new NoTcpSocketError("the socket that was handed over is not a TCP socket");
    check?.(address.address);
    return address;
  } catch (error) {
    server.close();
    throw error;
  }
}

function formatOrigin(scheme: string, { address, family, port }: AddressInfo): string {
  return `${scheme}://${family === "IPv6" ? `[${address}]` : address}:${port}`;
}

function closeServer(server: Server, listener: Listener): Promise<void> {
  listener.closing = true;
  return new Promise((resolve) => {
    server.close(() => resolve());
    server.closeIdleConnections();
  });
}

function serveRequests(server: Server, listener: Listener): void {
  const serve = (incoming: IncomingMessage, outgoing: ServerResponse, isWaiting: boolean): void => {
    const body = hasBody(incoming) ? new RequestBody(incoming, listener.bodies) : null;
    const exchange = { body, outgoing, isWaiting, isLast: false };
    listener.exchanges.set(incoming.socket, exchange);
    void answer(listener, exchange, incoming);
  };
  server.on("request", (incoming, outgoing) => serve(incoming, outgoing, false));
  server.on("checkContinue", (incoming, outgoing) => serve(incoming, outgoing, true));
  server.on("checkExpectation", (incoming: IncomingMessage, outgoing: ServerResponse) => {
    const error = new HttpError(417, "Expectation Failed: only 100-continue is known");
    const refusal = listener.handler.refuse(error, incoming.method ?? "-");
    void send(outgoing, refusal, { unreadMs: listener.limits.unreadMs, isLast: true });
  });
}

/** A request in progress is answered first, or with the reason if its body is being read. */
function refuseWhatIsNotHttp(server: Server, { handler, exchanges }: Listener): void {
  server.on("clientError", (error: NodeJS.ErrnoException, stream) => {
    const socket = stream as Socket;
    const refusal = toRefusal(error.code ?? "");
    const last = exchanges.get(socket);
    const isAnswered = last?.outgoing.writableFinished !== false;
    // The body of a request that was refused never ended.
    const isOver = isAnswered && last?.outgoing.req.complete === false;
    if (refusal === null || !socket.writable || isOver) socket.destroy();
    else if (isAnswered) writeRaw(socket, handler.refuse(refusal, "-"));
    else {
      last.isLast = true;
      last.body?.abort(refusal);
    }
  });
}

/** Null if the client has left. */
function toRefusal(code: string): HttpError | null {
  if (code === "ERR_HTTP_REQUEST_TIMEOUT") return new HttpError(408);
  if (code === "HPE_HEADER_OVERFLOW") return new HttpError(431);
  if (code === "HPE_INVALID_URL")
    return new HttpError(400, "Bad Request: the URL has a character that must be percent-encoded");
  return code.startsWith("HPE_") ? new HttpError(400, "Bad Request: this is not HTTP") : null;
}

function writeRaw(socket: Socket, { status, headers, body }: HttpResponse): void {
  const lines = Object.entries({ ...headers, connection: "close" }).map(([name, value]) => `${name}: ${value}\r\n`);
  socket.end(
    `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ""}\r\n${lines.join("")}\r\n${typeof body === "string" ? body : ""}`,
  );
  socket.setTimeout(LINGER_MS, () => socket.destroy());
}

async function answer(listener: Listener, exchange: Exchange, incoming: IncomingMessage): Promise<void> {
  const { body, outgoing } = exchange;
  try {
    const response = await respond(listener, exchange, incoming);
    const isLast = listener.closing || exchange.isLast || exchange.isWaiting;
    await send(outgoing, response, { unreadMs: listener.limits.unreadMs, isLast });
  } catch {
    incoming.socket.destroy();
  } finally {
    body?.release();
  }
}

function respond(
  { handler, scheme, url }: Listener,
  exchange: Exchange,
  incoming: IncomingMessage,
): Promise<HttpResponse> | HttpResponse {
  const { body } = exchange;
  const { method = "GET", headers, socket } = incoming;
  const authority = readAuthority(incoming);
  if (authority === null)
    return handler.refuse(new HttpError(400, "Bad Request: Host is missing or not valid"), method);
  // Node uses the first; a proxy may have checked the other one.
  if (countHeaders(incoming, "authorization") > 1)
    return handler.refuse(new HttpError(400, "Bad Request: there is more than one Authorization header"), method);
  const read = (): Promise<Uint8Array> => {
    // `Expect: 100-continue` is confirmed only if the body will be read.
    if (exchange.isWaiting) exchange.outgoing.writeContinue();
    exchange.isWaiting = false;
    return body?.read() ?? Promise.resolve(new Uint8Array());
  };
  return handler.handle(
    Object.assign(
      {
        method,
        url: (authority === "" ? url : `${scheme}://${authority}`) + toPath(incoming.url ?? "/"),
        headers: headers as Record<string, string>,
      },
      body === null ? undefined : { body: read },
      socket.remoteAddress === undefined ? undefined : { from: socket.remoteAddress },
    ),
  );
}

const HOST = /^(?:[\w-]+(?:\.[\w-]+)*\.?|\[[\da-fA-F:.]+\])(?::\d{1,5})?$/;
const ABSOLUTE = /^https?:\/\/([^/?#]*)([^#]*)/i;

/**
 * Host and port that the client used; the absolute form takes precedence over `Host`. Empty if missing, null if
 * invalid.
 */
function readAuthority(incoming: IncomingMessage): string | null {
  const { url = "/", headers, httpVersion } = incoming;
  const hosts = countHeaders(incoming, "host");
  if (hosts > 1 || (hosts === 0 && httpVersion === "1.1")) return null;
  const host = headers.host ?? "";
  const absolute = ABSOLUTE.exec(url)?.[1];
  return [host, absolute ?? ""].every(isAuthority) ? (absolute ?? host) : null;
}

/** `name` is in lower case. */
function countHeaders({ rawHeaders }: IncomingMessage, name: string): number {
  let count = 0;
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const sent = rawHeaders[index] ?? "";
    if (sent.length === name.length && sent.toLowerCase() === name) count += 1;
  }
  return count;
}

/** Used to build links, so `256.1.1.1` and port 99999 are invalid too. */
function isAuthority(text: string): boolean {
  return text === "" || (HOST.test(text) && URL.canParse(`http://${text}`));
}

function toPath(target: string): string {
  if (target.startsWith("/")) return target;
  const path = ABSOLUTE.exec(target)?.[2] ?? "/*";
  return path.startsWith("/") ? path : `/${path}`;
}

function hasBody({ headers }: IncomingMessage): boolean {
  return (
    headers["transfer-encoding"] !== undefined ||
    (headers["content-length"] !== undefined && headers["content-length"] !== "0")
  );
}

/** Resolves when the client has the answer, or has left. */
async function send(
  outgoing: ServerResponse,
  { status, headers, body }: HttpResponse,
  { unreadMs, isLast }: { readonly unreadMs: number; readonly isLast: boolean },
): Promise<void> {
  const length = typeof body === "string" ? { "content-length": Buffer.byteLength(body) } : {};
  // Spreading would cost about 2 µs per answer.
  outgoing.writeHead(status, Object.assign(length, headers, isLast ? { connection: "close" } : undefined));
  if (typeof body === "string") outgoing.end(body);
  // Most answers fit into the kernel's buffer.
  if (typeof body === "string" && (outgoing.socket?.writableLength ?? 0) === 0) return;
  outgoing.setTimeout(unreadMs);
  if (typeof body !== "string") {
    await writeParts(outgoing, body);
    outgoing.end();
  }
  // "close" follows both a complete answer and a client that left.
  if (!outgoing.closed) await new Promise((resolve) => outgoing.once("close", resolve));
}

/** The next part is built when the client has read the previous ones. */
async function writeParts(outgoing: ServerResponse, parts: AsyncIterable<Uint8Array>): Promise<void> {
  for await (const part of parts) {
    if (outgoing.destroyed) return;
    if (!outgoing.write(part)) await drained(outgoing);
  }
}

function drained(outgoing: ServerResponse): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      outgoing.off("drain", done);
      outgoing.off("close", done);
      resolve();
    };
    outgoing.on("drain", done);
    outgoing.on("close", done);
  });
}
