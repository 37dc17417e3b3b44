import { createServer, request as httpRequest, type IncomingMessage } from "node:http";
import { connect, type Socket } from "node:net";
import { listening } from "./misbehaving-server.ts";

export interface ProxyServer {
  readonly host: string;
  readonly seen: readonly string[];
  readonly headers: readonly Readonly<Record<string, unknown>>[];
  stop(): Promise<void>;
}

/** Only the proxy resolves this name. Loopback addresses would bypass the proxy. */
const HOST = "survey.example.com";

export function proxiedUrl({ baseUrl }: { readonly baseUrl: string }): string {
  const url = new URL(baseUrl);
  url.hostname = HOST;
  return url.origin;
}

function toLoopback(host: string): string {
  return host === HOST ? "127.0.0.1" : host;
}

export async function startProxy(credentials?: string): Promise<ProxyServer> {
  const seen: string[] = [];
  const headers: Record<string, unknown>[] = [];
  const sockets = new Set<Socket>();
  const expected = credentials === undefined ? undefined : `Basic ${Buffer.from(credentials).toString("base64")}`;
  const allowed = (request: IncomingMessage): boolean => {
    seen.push(`${request.method} ${request.url}`);
    headers.push({ ...request.headers });
    return request.headers["proxy-authorization"] === expected;
  };
  const server = createServer((request, response) => {
    if (!allowed(request)) {
      response.writeHead(407).end("who are you?");
      return;
    }
    const target = new URL(request.url ?? "");
    target.hostname = toLoopback(target.hostname);
    const onward = httpRequest(
      target,
      { method: request.method ?? "GET", headers: request.headers, agent: false },
      (answer) => {
        response.writeHead(answer.statusCode ?? 502, answer.headers);
        answer.pipe(response);
      },
    );
    onward.on("error", () => response.writeHead(502).end());
    request.pipe(onward);
  });
  server.on("connect", (request, socket: Socket) => {
    if (!allowed(request)) {
      socket.end("HTTP/1.1 407 Proxy Authentication Required\r\ncontent-length: 0\r\n\r\n");
      return;
    }
    const [, host = "", port = ""] = /^(.*):(\d+)$/.exec(request.url ?? "") ?? [];
    const onward = connect(Number(port), toLoopback(host), () => {
      socket.write("HTTP/1.1 200 OK\r\n\r\n");
      socket.pipe(onward).pipe(socket);
      socket.once("close", () => onward.destroy());
    });
    onward.on("error", () => socket.destroy());
  });
  server.on("connection", (socket: Socket) => sockets.add(socket.on("error", () => undefined)));
  const port = await listening(server);
  const stop = async (): Promise<void> => {
    for (const socket of sockets) socket.destroy();
    await new Promise((resolve) => server.close(resolve));
  };
  return { host: `127.0.0.1:${port}`, seen, headers, stop };
}
