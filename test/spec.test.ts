/**
 * Every endpoint has a handler and an acceptance story; those of the specification also have a client function and a
 * command.
 */
import { readdirSync, readFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createClient } from "../src/client/create-client.ts";
import type { HttpResponse } from "../src/contract/http.ts";
import { ROUTES, routePath, type Route, type RouteName } from "../src/contract/routes.ts";
import { systemClock } from "../src/runtime/clock.ts";
import { HANDLERS } from "../src/service/http/handlers.ts";
import { findRoute } from "../src/service/http/router.ts";
import { runInside } from "./helpers/in-process.ts";
import { parseStory } from "./helpers/story.ts";

const placeholders = { platform: "email", person: "1", email: "a@example.com", id: "1" };
const all = Object.values(ROUTES) as readonly Route[];
const specified = all.filter((route) => route.section !== null);

const COMMANDS: Readonly<Partial<Record<RouteName, readonly string[]>>> = {
  listPeople: ["people", "list"],
  sendPerson: ["people", "add", "--email", "a@example.com"],
  listResponses: ["responses", "list"],
  addResponse: ["responses", "add", "--person-id", "1", "--score", "10"],
  listBounces: ["bounces", "list"],
  listUnsubscribes: ["unsubscribes", "list"],
  getMetrics: ["metrics"],
  listMembers: ["autopilot", "list"],
  addMember: ["autopilot", "add", "--email", "a@example.com"],
  removeMember: ["autopilot", "remove", "--email", "a@example.com", "--yes"],
  getAutopilot: ["autopilot", "config", "--platform", "email"],
};

const transport = async (): Promise<HttpResponse> => ({ status: 200, headers: {}, body: "{}" });

describe("both ends of the wire", () => {
  const client = createClient({ baseUrl: "http://127.0.0.1", apiKey: "key", transport, clock: systemClock });

  it.each(all)("when $name is called, then the service leads it to a handler of that name", (route) => {
    expect(findRoute(route.method, routePath(route, placeholders))).toMatchObject({ name: route.name });
    expect(HANDLERS[route.name as RouteName]).toBeTypeOf("function");
  });

  it.each([...specified, ROUTES.getResponse])(
    "when $name is wanted, then the client has a function of that name",
    ({ name }) => {
      expect(client[name as keyof typeof client]).toBeTypeOf("function");
    },
  );
});

describe("the program has a command", () => {
  const asked: string[] = [];
  let recorder: Server;
  let env: Record<string, string>;
  beforeAll(async () => {
    recorder = createServer((request, response) => {
      asked.push(`${request.method} ${String(request.url).split("?")[0]}`);
      response
        .setHeader("content-type", "application/json")
        .end(request.method === "GET" && !/metrics|email\.json/.test(request.url ?? "") ? "[]" : '{"id":"1"}');
    });
    await new Promise<void>((resolve) => recorder.listen(0, "127.0.0.1", resolve));
    env = {
      SURVEYCTL_BASE_URL: `http://127.0.0.1:${(recorder.address() as AddressInfo).port}`,
      SURVEYCTL_API_KEY: "a-key",
    };
  });
  afterAll(() => new Promise((resolve) => recorder.close(resolve)));

  it.each(specified)("when $name is wanted, then a command makes exactly that call", async (route) => {
    asked.length = 0;
    const { status, stderr } = await runInside({ args: COMMANDS[route.name as RouteName] ?? [], home: tmpdir(), env });
    expect({ asked, status, stderr }).toEqual({
      asked: [`${route.method} ${routePath(route, placeholders)}`],
      status: 0,
      stderr: "",
    });
  });
});

describe("the stories cover it", () => {
  const folder = path.join(import.meta.dirname, "acceptance");
  const files = readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((name) => name.endsWith(".txt"));
  const covered = new Set(files.flatMap((name) => parseStory(readFileSync(path.join(folder, name), "utf8")).covers));

  it.each(all)("when $name is looked for, then a story names it", ({ name }) => {
    expect([...covered]).toContain(name);
  });

  it("when a story names an endpoint, then that exists", () => {
    expect([...covered].filter((name) => !(name in ROUTES))).toEqual([]);
  });
});
