/** An HTTP server on real sockets that misbehaves as a test demands. */
import { readFileSync } from "node:fs";
import { createServer, type AddressInfo, type Server, type Socket } from "node:net";
import path from "node:path";
import { createServer as createTlsServer } from "node:tls";

export interface SeenRequest {
  readonly method: string;
  readonly target: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  readonly number: number;
}

export type Behaviour = (socket: Socket, request: SeenRequest) => void | Promise<void>;

export interface MisbehavingServer {
  readonly baseUrl: string;
  readonly port: number;
  readonly requests: readonly SeenRequest[];
  stop(): Promise<void>;
}

export interface MisbehavingOptions {
  /** A list is used in order and its last entry repeated. */
  readonly script: ((request: SeenRequest) => Behaviour) | readonly Behaviour[];
  readonly resetConnection?: (number: number) => boolean;
  readonly tls?: boolean;
}

export const TLS_CERTIFICATE = path.join(import.meta.dirname, "../fixtures/tls/cert.pem");

export async function startMisbehavingServer(options: MisbehavingOptions): Promise<MisbehavingServer> {
  const requests: SeenRequest[] = [];
  const sockets = new Set<Socket>();
  let connections = 0;
  const script = options.script;
  const behaviourFor = (request: SeenRequest): Behaviour => {
    const chosen = typeof script === "function" ? script(request) : script[Math.min(request.number, script.length) - 1];
    if (chosen === undefined) throw new Error("the script is empty");
    return chosen;
  };
  const serve = (socket: Socket): void => {
    sockets.add(socket);
    socket.on("close", () => sockets.delete(socket)).on("error", () => undefined);
    connections += 1;
    if (options.resetConnection?.(connections) === true) {
      socket.resetAndDestroy();
      return;
    }
    readRequests(socket, (request) => {
      const seen = { ...request, number: requests.length + 1 };
      requests.push(seen);
      void Promise.resolve(behaviourFor(seen)(socket, seen));
    });
  };
  const server = options.tls === true ? createTlsServer(tlsFiles(), serve) : createServer(serve);
  const port = await listening(server);
  const scheme = options.tls === true ? "https://localhost" : "http://127.0.0.1";
  const stop = async (): Promise<void> => {
    for (const socket of sockets) socket.destroy();
    await new Promise((resolve) => server.close(resolve));
  };
  return { baseUrl: `${scheme}:${port}`, port, requests, stop };
}

function tlsFiles(): { cert: Buffer; key: Buffer } {
  return {
    cert: readFileSync(TLS_CERTIFICATE),
    key: readFileSync(path.join(path.dirname(TLS_CERTIFICATE), "key.pem")),
  };
}

export async function listening(server: Server): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return (server.address() as AddressInfo).port;
}

/** Supports requests with Content-Length, one at a time per connection. */
function readRequests(socket: Socket, take: (request: Omit<SeenRequest, "number">) => void): void {
  let waiting = "";
  socket.setEncoding("latin1").on("data", (text: string | Buffer) => {
    waiting += String(text);
    for (let split = waiting.indexOf("\r\n\r\n"); split !== -1; split = waiting.indexOf("\r\n\r\n")) {
      const [start = "", ...lines] = waiting.slice(0, split).split("\r\n");
      const headers = Object.fromEntries(
        lines.map((line) => [line.split(":")[0]?.toLowerCase(), line.replace(/^[^:]*:\s*/, "")]),
      );
      const end = split + 4 + Number(headers["content-length"] ?? 0);
      if (waiting.length < end) return;
      const [method = "", target = ""] = start.split(" ");
      take({ method, target, headers, body: Buffer.from(waiting.slice(split + 4, end), "latin1").toString("utf8") });
      waiting = waiting.slice(end);
    }
  });
}

type Headers = Readonly<Record<string, string>>;

/** A correct response. A header set to `null` is left out. */
export function answer(
  status: number,
  body: string | Buffer,
  headers: Readonly<Record<string, string | null>> = {},
): Behaviour {
  return (socket) => {
    const bytes = Buffer.from(body);
    const all = { "content-type": "application/json", date: new Date(Date.now()).toUTCString(), ...headers };
    socket.write(
      Buffer.concat([Buffer.from(head(status, { "content-length": String(bytes.byteLength), ...all })), bytes]),
    );
  };
}

export function json(value: unknown, headers: Headers = {}, status = 200): Behaviour {
  return answer(status, JSON.stringify(value), headers);
}

export function raw(bytes: string | Buffer, { keepOpen = false } = {}): Behaviour {
  return (socket) => {
    if (keepOpen) socket.write(bytes);
    else socket.end(bytes);
  };
}

export const reset: Behaviour = (socket) => void socket.resetAndDestroy();

export const hangUp: Behaviour = (socket) => void socket.end();

export const stall: Behaviour = () => undefined;

export function cutShort(body: string, promised = body.length + 100): Behaviour {
  return raw(`${head(200, { "content-type": "application/json", "content-length": String(promised) })}${body}`);
}

export function cutChunked(body: string): Behaviour {
  const start = head(200, { "content-type": "application/json", "transfer-encoding": "chunked" });
  return raw(`${start}${Buffer.byteLength(body).toString(16)}\r\n${body}\r\n`);
}

export function flood(bytes: number, { chunked = false } = {}): Behaviour {
  return async (socket) => {
    const length = chunked ? { "transfer-encoding": "chunked" } : { "content-length": String(bytes) };
    socket.write(head(200, { "content-type": "application/json", ...length }));
    const data = Buffer.alloc(64 * 1024, " ");
    const chunk = chunked ? Buffer.concat([Buffer.from("10000\r\n"), data, Buffer.from("\r\n")]) : data;
    for (let left = bytes; left > 0 && !socket.destroyed; left -= data.byteLength) {
      if (!socket.write(chunk)) await drained(socket);
    }
  };
}

export async function drained(socket: Socket): Promise<void> {
  await new Promise<void>((resolve) => {
    const goOn = (): void => {
      socket.off("drain", goOn).off("close", goOn);
      resolve();
    };
    socket.on("drain", goOn).on("close", goOn);
  });
}

function head(status: number, headers: Readonly<Record<string, string | null>>): string {
  const lines = Object.entries(headers).flatMap(([name, value]) => (value === null ? [] : [`${name}: ${value}\r\n`]));
  return `HTTP/1.1 ${status} Status\r\n${lines.join("")}\r\n`;
}
