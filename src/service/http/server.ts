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
import { pipeline } from "node:stream/promises";
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
  /** Called with the bound address before any request is read. If it throws, the server stops listening. */
  readonly check?: (host: string) => void;
  readonly tls: { readonly cert: string; readonly key: string } | null;
  readonly limits?: ListenLimits;
}

interface ListenLimits {
  readonly connections: number;
  /** Maximum milliseconds from a request's first to its last byte. */
  readonly requestMs: number;
  /** Milliseconds without progress after which a client that doesn't read its response is disconnected. */
  readonly unreadMs: number;
}

export interface Listening {
  readonly url: string;
  /** Stops accepting connections, and resolves once all requests in flight have been answered. */
  close(): Promise<void>;
  cut(): void;
}

const LIMITS: ListenLimits = { connections: 10_000, requestMs: 30_000, unreadMs: 30_000 };
/** Longer than the idle timeout of load balancers (60 s), so that they close first. */
const KEEP_ALIVE_MS = 75_000;
/** A refused connection is kept open this long so the client can read the error. */
const LINGER_MS = 2_000;

interface Exchange {
  readonly body: RequestBody | null;
  readonly outgoing: ServerResponse;
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
      throw new Error("the socket that was handed over is not a TCP socket");
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
  const { bodies, exchanges, handler, limits } = listener;
  const serve = (incoming: IncomingMessage, outgoing: ServerResponse, waiting: ServerResponse | null): void => {
    const body = hasBody(incoming) ? new RequestBody(incoming, bodies, waiting) : null;
    exchanges.set(incoming.socket, { body, outgoing });
    void answer(listener, incoming, outgoing, body);
  };
  server.on("request", (incoming, outgoing) => serve(incoming, outgoing, null));
  server.on("checkContinue", (incoming, outgoing) => serve(incoming, outgoing, outgoing));
  server.on("checkExpectation", (incoming: IncomingMessage, outgoing: ServerResponse) => {
    const error = new HttpError(417, "Expectation Failed: only 100-continue is known");
    closeAfter(outgoing);
    void send(outgoing, handler.refuse(error, incoming.method ?? "-"), limits.unreadMs);
  });
}

/**
 * Rejects bytes that aren't valid HTTP. A request in progress is answered first; if its body is still being read, the
 * answer is the rejection.
 */
function refuseWhatIsNotHttp(server: Server, { handler, exchanges }: Listener): void {
  server.on("clientError", (error: NodeJS.ErrnoException, stream) => {
    const socket = stream as Socket;
    const refusal = toRefusal(error.code ?? "");
    const last = exchanges.get(socket);
    const isAnswered = last?.outgoing.writableFinished !== false;
    // The request was rejected before its body ended, so it gets no second response.
    const isOver = isAnswered && last?.outgoing.req.complete === false;
    if (refusal === null || !socket.writable || isOver) socket.destroy();
    else if (isAnswered) writeRaw(socket, handler.refuse(refusal, "-"));
    else {
      closeAfter(last.outgoing);
      last.body?.abort(refusal);
    }
  });
}

/** Closes the connection after the response, because what follows may not be HTTP. */
function closeAfter(outgoing: ServerResponse): void {
  if (!outgoing.headersSent) outgoing.setHeader("connection", "close");
}

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

async function answer(
  listener: Listener,
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  body: RequestBody | null,
): Promise<void> {
  try {
    const response = await respond(listener, incoming, body);
    if (listener.closing || body?.isUncertain === true) closeAfter(outgoing);
    await send(outgoing, response, listener.limits.unreadMs);
  } catch {
    incoming.socket.destroy();
  } finally {
    body?.release();
  }
}

function respond(
  { handler, scheme, url }: Listener,
  incoming: IncomingMessage,
  body: RequestBody | null,
): Promise<HttpResponse> | HttpResponse {
  const { method = "GET", headers, socket } = incoming;
  const authority = readAuthority(incoming);
  if (authority === null)
    return handler.refuse(new HttpError(400, "Bad Request: Host is missing or not valid"), method);
  // Node uses the first one; a proxy may have checked another.
  if (countHeaders(incoming, "authorization") > 1)
    return handler.refuse(new HttpError(400, "Bad Request: there is more than one Authorization header"), method);
  return handler.handle(
    Object.assign(
      {
        method,
        url: (authority === "" ? url : `${scheme}://${authority}`) + toPath(incoming.url ?? "/"),
        headers: headers as Record<string, string>,
      },
      body === null ? undefined : { body: () => body.read() },
      socket.remoteAddress === undefined ? undefined : { from: socket.remoteAddress },
    ),
  );
}

const HOST = /^(?:[\w-]+(?:\.[\w-]+)*\.?|\[[\da-fA-F:.]+\])(?::\d{1,5})?$/;
const ABSOLUTE = /^https?:\/\/([^/?#]*)([^#]*)/i;

/** The client's host and port, from an absolute URL or else from `Host`. Empty if missing, null if invalid. */
function readAuthority(incoming: IncomingMessage): string | null {
  const { url = "/", headers, httpVersion } = incoming;
  const hosts = countHeaders(incoming, "host");
  if (hosts > 1 || (hosts === 0 && httpVersion === "1.1")) return null;
  const host = headers.host ?? "";
  const absolute = ABSOLUTE.exec(url)?.[1];
  return [host, absolute ?? ""].every(isAuthority) ? (absolute ?? host) : null;
}

function countHeaders({ rawHeaders }: IncomingMessage, name: string): number {
  // Names and values alternate.
  return rawHeaders.filter((sent, at) => at % 2 === 0 && sent.toLowerCase() === name).length;
}

/** Used to build links, so `256.1.1.1` and port 99999 are also invalid. */
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

async function send(
  outgoing: ServerResponse,
  { status, headers, body }: HttpResponse,
  unreadMs: number,
): Promise<void> {
  const length = typeof body === "string" ? { "content-length": Buffer.byteLength(body) } : {};
  // Spreading would cost about 2 µs per response.
  outgoing.writeHead(status, Object.assign(length, headers));
  if (typeof body === "string") {
    outgoing.end(body);
    // Most responses fit into the kernel's buffer, so there is nothing to wait for.
    if ((outgoing.socket?.writableLength ?? 0) === 0) return;
  }
  outgoing.setTimeout(unreadMs);
  // Each part is built once the client has read the previous ones.
  if (typeof body !== "string") await pipeline(body, outgoing);
  // "close" follows both a complete response and a disconnect.
  if (!outgoing.closed) await new Promise((resolve) => outgoing.once("close", resolve));
}
