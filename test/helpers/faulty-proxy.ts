/** A proxy that breaks requests at random, with a seed. */
import { createServer, request as httpRequest, type IncomingMessage, type ServerResponse } from "node:http";
import { listening } from "./misbehaving-server.ts";
import { seededRandom } from "./seeded-random.ts";

export interface FaultyProxy {
  readonly baseUrl: string;
  readonly faults: ReadonlyMap<string, number>;
  calm(): void;
  stop(): Promise<void>;
}

export interface FaultyOptions {
  readonly target: string;
  readonly seed: number;
  readonly share: number;
}

type Fault = (response: ServerResponse, forward: () => Promise<Answer>) => void | Promise<void>;

interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: Buffer;
}

const STORM = 6;

const FAULTS: Readonly<Record<string, Fault>> = {
  "dropped before": (response) => void response.socket?.destroy(),
  "dropped after": async (response, forward) => {
    await forward();
    response.socket?.destroy();
  },
  "503 before": (response) => void response.writeHead(503, { "retry-after": "0" }).end(),
  "500 in HTML before": (response) =>
    void response.writeHead(500, { "content-type": "text/html" }).end("<h1>Oops</h1>"),
  "HTML after": async (response, forward) => {
    await forward();
    response.writeHead(200, { "content-type": "text/html" }).end("<h1>Hello</h1>");
  },
  "cut after": async (response, forward) => {
    const { status, headers, body } = await forward();
    response.writeHead(status, { ...headers, "content-length": body.length + 100 });
    response.write(body.subarray(0, body.length / 2), () => response.socket?.destroy());
  },
};

export async function startFaultyProxy({ target, seed, share }: FaultyOptions): Promise<FaultyProxy> {
  const random = seededRandom(seed);
  const faults = new Map<string, number>();
  const names = [...Object.keys(FAULTS), "storm"];
  const weather = { calm: false, storm: 0, next: 0 };
  const choose = (): string | null => {
    if (weather.calm) return null;
    if (weather.storm > 0) return "429";
    if (random() >= share) return null;
    weather.next += 1;
    return names[weather.next % names.length] ?? null;
  };
  const serve = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const body = await bytesOf(request);
    const forward = (): Promise<Answer> => pass(target, request, body);
    const fault = choose();
    if (fault !== null) faults.set(fault, (faults.get(fault) ?? 0) + 1);
    if (fault === "storm") weather.storm = STORM;
    if (fault === "storm" || fault === "429") {
      weather.storm -= 1;
      const retryAfter = weather.storm % 2 === 0 ? "0" : new Date(Date.now()).toUTCString();
      response.writeHead(429, { "retry-after": retryAfter }).end();
      return;
    }
    const spoil = fault === null ? undefined : FAULTS[fault];
    if (spoil !== undefined) return spoil(response, forward);
    const answer = await forward();
    response.writeHead(answer.status, answer.headers).end(answer.body);
  };
  const server = createServer(
    (request, response) => void serve(request, response).catch(() => response.socket?.destroy()),
  );
  const port = await listening(server);
  return {
    baseUrl: `http://127.0.0.1:${port}`,
    faults,
    calm: () => (weather.calm = true),
    async stop() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function pass(target: string, { method = "GET", url = "/", headers }: IncomingMessage, body: Buffer): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const onward = httpRequest(new URL(url, target), { method, headers, agent: false });
    onward.on("error", reject).on("response", (answer: IncomingMessage) => {
      const { "transfer-encoding": _chunked, connection: _connection, ...kept } = answer.headers;
      bytesOf(answer).then(
        (bytes) => resolve({ status: answer.statusCode ?? 502, headers: kept, body: bytes }),
        reject,
      );
    });
    onward.end(body);
  });
}

async function bytesOf(stream: AsyncIterable<Buffer>): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of stream) chunks.push(chunk);
  return Buffer.concat(chunks);
}
