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
import { createBodies, type RequestBody } from "./bodies.ts";
import type { HttpHandler } from "./create-http-service.ts";
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
interface Connection {
  /** The answer in progress. */
  turn: Promise<void> | null;
  /** Requests in progress or queued. */
  waiting: number;
  body: RequestBody | null;
  /** What follows the last request isn't HTTP. */
  broken: boolean;
}

interface Listener {
  readonly handler: HttpHandler;
  readonly scheme: "http" | "https";
  readonly url: string;
  readonly limits: ListenLimits;
  readonly openBody: ReturnType<typeof createBodies>;
  readonly connections: WeakMap<Socket, Connection>;
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
    openBody: createBodies(),
    connections: new WeakMap(),
    closing: false,
  };
  serveRequests(server, listener);
  refuseTheRest(server, listener);
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
  const serve = (incoming: IncomingMessage, outgoing: ServerResponse, onBody = (): void => undefined): void => {
    const { socket } = incoming;
    inTurn(listener, socket, (connection) => answer(listener, connection, incoming, outgoing, onBody));
  };
  server.on("request", (incoming, outgoing) => serve(incoming, outgoing));
  // `Expect: 100-continue` is confirmed only if the body will be read.
  server.on("checkContinue", (incoming, outgoing) => serve(incoming, outgoing, () => outgoing.writeContinue()));
  server.on("checkExpectation", (incoming: IncomingMessage, outgoing: ServerResponse) => {
    const error = new HttpError(417, "Expectation Failed: only 100-continue is known");
    inTurn(listener, incoming.socket, () =>
      send(outgoing, listener.handler.refuse(error, incoming.method ?? "-"), { listener, body: null, closing: true }),
    );
  });
}

/** Pipelined requests that are read ahead. */
const WAITING_MAX = 16;

/**
 * Answers the requests of a connection one at a time: a request pipelined after a write sees what it wrote, and a
 * client that sends faster than it reads can't fill the memory, because reading pauses.
 */
function inTurn(listener: Listener, socket: Socket, work: (connection: Connection) => Promise<void>): void {
  const connection = connectionOf(listener, socket);
  connection.waiting += 1;
  if (connection.waiting === WAITING_MAX) socket.pause();
  connection.turn = takeTurn(connection, socket, work);
}

async function takeTurn(
  connection: Connection,
  socket: Socket,
  work: (connection: Connection) => Promise<void>,
): Promise<void> {
  if (connection.turn !== null) await connection.turn;
  try {
    await work(connection);
  } catch {
    socket.destroy();
  }
  connection.waiting -= 1;
  if (connection.waiting === WAITING_MAX - 1) socket.resume();
  if (connection.waiting === 0) connection.turn = null;
}

function connectionOf({ connections }: Listener, socket: Socket): Connection {
  const known = connections.get(socket);
  if (known !== undefined) return known;
  const connection: Connection = { turn: null, waiting: 0, body: null, broken: false };
  connections.set(socket, connection);
  // Node resumes the socket after each answer.
  socket.on("resume", () => connection.waiting >= WAITING_MAX && socket.pause());
  return connection;
}

/** Refuses what Node's parser rejects. */
function refuseTheRest(server: Server, listener: Listener): void {
  const { handler } = listener;
  const refuse = (socket: Socket, error: HttpError, method: string): void =>
    inTurn(listener, socket, async () => {
      if (socket.writable) writeRaw(socket, handler.refuse(error, method));
    });
  server.on("clientError", (error: NodeJS.ErrnoException, stream) => {
    const socket = stream as Socket;
    const connection = connectionOf(listener, socket);
    if (connection.broken) return;
    connection.broken = true;
    const refusal = toRefusal(error.code ?? "");
    if (!socket.writable || refusal === null) socket.destroy();
    else if (connection.body === null) refuse(socket, refusal, "-");
    else connection.body.abort(refusal);
  });
  server.on("connect", (_, stream) => {
    refuse(stream as Socket, new HttpError(405, undefined, { allow: "GET, HEAD, POST, PUT, DELETE" }), "CONNECT");
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
  const text = typeof body === "string" ? body : "";
  const lines = Object.entries({ ...headers, "content-length": Buffer.byteLength(text), connection: "close" });
  const head = lines.map(([name, value]) => `${name}: ${value}\r\n`).join("");
  socket.end(`HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ""}\r\n${head}\r\n${text}`);
  socket.resume().setTimeout(LINGER_MS, () => socket.destroy());
}

async function answer(
  listener: Listener,
  connection: Connection,
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  onBody: () => void,
): Promise<void> {
  const body = hasBody(incoming) ? listener.openBody(incoming) : null;
  connection.body = body;
  try {
    const response = await respond(listener, incoming, body, onBody);
    const closing = listener.closing || body?.aborted === true;
    await send(outgoing, response, { listener, body, closing });
  } finally {
    connection.body = null;
    body?.release();
    if (body?.aborted === true) incoming.socket.destroySoon();
  }
}

function respond(
  { handler, scheme, url }: Listener,
  incoming: IncomingMessage,
  body: RequestBody | null,
  onBody: () => void,
): Promise<HttpResponse> | HttpResponse {
  const { method = "GET", headers, socket } = incoming;
  const authority = readAuthority(incoming);
  if (authority === null)
    return handler.refuse(new HttpError(400, "Bad Request: Host is missing or not valid"), method);
  // Node uses the first; a proxy may have checked the other one.
  if (countHeaders(incoming, "authorization") > 1)
    return handler.refuse(new HttpError(400, "Bad Request: there is more than one Authorization header"), method);
  const read = (): Promise<Uint8Array> => {
    onBody();
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

interface Sending {
  readonly listener: Listener;
  readonly body: RequestBody | null;
  readonly closing: boolean;
}

/** Resolves when the answer has been sent and an unread body has been dropped. */
async function send(
  outgoing: ServerResponse,
  { status, headers, body: content }: HttpResponse,
  { listener, body, closing }: Sending,
): Promise<void> {
  const length = typeof content === "string" ? { "content-length": Buffer.byteLength(content) } : {};
  // Spreading would cost about 2 µs per answer.
  outgoing.writeHead(status, Object.assign(length, headers, closing ? { connection: "close" } : undefined));
  if ((body === null || body.isRead) && typeof content === "string") {
    outgoing.end(content);
    // Most answers fit into the kernel's buffer.
    if ((outgoing.socket?.writableLength ?? 0) === 0) return;
    outgoing.setTimeout(listener.limits.unreadMs);
    return closed(outgoing);
  }
  outgoing.setTimeout(listener.limits.unreadMs);
  if (typeof content === "string") outgoing.write(content);
  else await writeParts(outgoing, content);
  outgoing.flushHeaders();
  await body?.discard();
  outgoing.end();
  await closed(outgoing);
}

/** "close" follows both a complete answer and a client that left. */
function closed(outgoing: ServerResponse): Promise<void> {
  return new Promise((resolve) => {
    if (outgoing.closed) resolve();
    else outgoing.once("close", () => resolve());
  });
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
