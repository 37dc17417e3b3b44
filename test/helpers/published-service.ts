/** A proxy in front of our service that only has the specification's endpoints. */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { ROUTES } from "../../src/contract/routes.ts";
import { findRoute } from "../../src/service/http/router.ts";
import { listening } from "./misbehaving-server.ts";
import type { Served } from "./serve.ts";

export interface PublishedService {
  readonly env: Readonly<Record<string, string>>;
  stop(): Promise<void>;
}

export async function startPublishedService({ baseUrl, apiKey }: Served): Promise<PublishedService> {
  const server = createServer((request, response) => {
    void answer(baseUrl, request, response);
  });
  const port = await listening(server);
  return {
    env: { SURVEYCTL_BASE_URL: `http://127.0.0.1:${port}`, SURVEYCTL_API_KEY: apiKey },
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

async function answer(baseUrl: string, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { method = "GET", headers } = request;
  const url = new URL(request.url ?? "", baseUrl);
  const found = findRoute(method, url.pathname);
  const route = found === null || "allow" in found ? null : ROUTES[found.name];
  if (route === null || route.section === null) {
    response.writeHead(404, { "content-type": "application/json" }).end('{"status":404}');
    return;
  }
  // The specification ignores unknown parameters.
  if (["listPeople", "sendPerson", "addMember"].includes(route.name))
    for (const name of ["expand", "expand[]"]) url.searchParams.delete(name);
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  const { authorization = "", "content-type": type = "application/json" } = headers;
  const reply = await fetch(url, {
    method,
    headers: { authorization, "content-type": type },
    ...(chunks.length > 0 && { body: Buffer.concat(chunks) }),
  });
  const link = reply.headers.get("link")?.replaceAll(baseUrl, `http://${headers.host}`) ?? null;
  response
    .writeHead(reply.status, { "content-type": "application/json", ...(link !== null && { link }) })
    .end(await reply.text());
}
