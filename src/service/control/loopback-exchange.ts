/** Requests to a server on this machine, over kept-alive connections. */
import { Agent, request as startRequest, type IncomingMessage } from "node:http";
import type { Exchange, HttpResponse } from "../../contract/http.ts";

export interface LoopbackExchange {
  readonly exchange: Exchange;
  readonly close: () => void;
}

/** `close` ends the connections that wait for a further request. */
export function createLoopbackExchange(): LoopbackExchange {
  const agent = new Agent({ keepAlive: true });
  const exchange: Exchange = ({ method, url, headers, body, signal }) =>
    new Promise((resolve, reject) => {
      const length = body === undefined ? {} : { "content-length": String(Buffer.byteLength(body)) };
      const options = {
        method,
        headers: { ...headers, ...length },
        agent,
        ...(signal === undefined ? {} : { signal }),
      };
      const outgoing = startRequest(url, options, (incoming) => resolve(toResponse(incoming)));
      outgoing.once("error", reject);
      outgoing.end(body);
    });
  return { exchange, close: () => agent.destroy() };
}

function toResponse(incoming: IncomingMessage): HttpResponse {
  const headers = Object.entries(incoming.headers).map(([name, value]) => [
    name,
    Array.isArray(value) ? value.join(", ") : (value ?? ""),
  ]);
  return {
    status: incoming.statusCode ?? 0,
    headers: Object.fromEntries(headers) as Record<string, string>,
    body: incoming,
  };
}

/** A response's body as text. */
export async function readText({ body }: HttpResponse): Promise<string> {
  if (typeof body === "string") return body;
  const chunks: Uint8Array[] = [];
  for await (const chunk of body) chunks.push(chunk);
  return Buffer.concat(chunks).toString("utf8");
}
