import { describe, expect, it } from "vitest";
import type { Clock } from "../../../src/runtime/clock.ts";
import type { Store } from "../../../src/service/domain/ports.ts";
import { type Listener, OperatorPages } from "../../../src/service/http/monitoring/health-and-metrics.ts";
import { openHttp, ORIGIN } from "./fixture.ts";

const HEALTH = ["/healthz", "/readyz"] as const;

function openPages(read: () => Promise<unknown>) {
  const state = { ms: 0, isReady: true, reads: 0, alarms: [] as (() => void)[] };
  const clock: Clock = {
    now: () => state.ms,
    monotonic: () => state.ms,
    sleep: () => new Promise((resolve) => void state.alarms.push(resolve)),
  };
  const store: Pick<Store, "read"> = {
    read: <Result>() => {
      state.reads += 1;
      return read() as Promise<Result>;
    },
  };
  const pages = new OperatorPages({
    store,
    clock,
    publicUrl: null,
    metricsToken: null,
    isReady: () => state.isReady,
    metrics: async () => "",
  });
  const ask = async (path: string): Promise<number> =>
    (await pages.show(path, { method: "GET", headers: {}, from: "10.0.0.1" }, "main")).status;
  return { state, ask };
}

describe("health", () => {
  it("when health is asked for, then no key is needed, and readiness ends with draining", async () => {
    const http = await openHttp();
    const ask = async (path: string): Promise<unknown[]> => {
      const { status, text } = await http.call("GET", path, { headers: { authorization: "" } });
      return [status, text];
    };
    expect(await ask("/healthz")).toEqual([200, '{"status":"ok"}']);
    expect(await ask("/readyz")).toEqual([200, '{"status":"ready"}']);
    http.state.ready = false;
    expect(await ask("/readyz")).toEqual([503, '{"status":503,"message":"Service Unavailable"}']);
    await http.get("/v1/people");
    expect((await ask("/metrics"))[1]).toContain(
      'surveyctl_http_requests_total{route="listPeople",method="GET",status="200"} 1\n',
    );
    await http.store.close();
  });

  it("when both are asked often, then only readiness reads the store, once a second", async () => {
    const { state, ask } = openPages(async () => 0);
    for (let ms = 0; ms < 3000; ms += 100) {
      state.ms = ms;
      for (const path of HEALTH) expect(await ask(path)).toBe(200);
    }
    expect(state.reads).toBe(3);
  });

  it("when the store fails, then readiness is 503 a second later, and comes back with it", async () => {
    const store = { works: true };
    const { state, ask } = openPages(async () => {
      if (!store.works) throw new Error("gone");
    });
    expect(await ask("/readyz")).toBe(200);
    store.works = false;
    state.ms = 1000;
    expect([await ask("/healthz"), await ask("/readyz")]).toEqual([200, 503]);
    store.works = true;
    expect(await ask("/readyz")).toBe(503);
    state.ms = 2000;
    expect(await ask("/readyz")).toBe(200);
  });

  it("when the store does not answer, then readiness is 503 after four seconds, for all that ask meanwhile", async () => {
    const { state, ask } = openPages(() => new Promise(() => undefined));
    const asked = Promise.all([ask("/readyz"), ask("/readyz"), ask("/healthz")]);
    await new Promise(setImmediate);
    expect(state.alarms).toHaveLength(1);
    for (const ring of state.alarms) ring();
    expect([await asked, state.reads]).toEqual([[503, 503, 200], 1]);
  });

  it("when the service drains, then readiness is 503 without a look at the store", async () => {
    const { state, ask } = openPages(async () => 0);
    expect(await ask("/readyz")).toBe(200);
    state.isReady = false;
    expect([await ask("/readyz"), state.reads]).toEqual([503, 1]);
  });
});

const HERE = "127.0.0.1";
const AWAY = "10.0.0.1";
const RIGHT = { authorization: "Bearer the-token" };
const WRONG = { authorization: "Bearer another" };
const PUBLIC = "https://survey.example.com";

describe("metrics", () => {
  it.each<[string, Listener, { publicUrl?: string; metricsToken?: string }, string, Record<string, string>, number]>([
    ["this machine", "main", {}, HERE, {}, 200],
    ["this machine by IPv6", "main", {}, "::1", {}, 200],
    ["this machine by IPv4 in IPv6", "main", {}, "::ffff:127.0.0.1", {}, 200],
    ["another machine", "main", {}, AWAY, {}, 404],
    ["another machine by IPv6", "main", {}, "2001:db8::1", {}, 404],
    ["a proxy on this machine", "main", {}, HERE, { "x-forwarded-for": "192.0.2.1" }, 404],
    ["a proxy that follows RFC 7239", "main", {}, HERE, { forwarded: "for=192.0.2.1" }, 404],
    ["this machine below a public URL", "main", { publicUrl: PUBLIC }, HERE, {}, 404],
    ["another machine with a token that is not set", "main", {}, AWAY, RIGHT, 404],
    ["another machine without the token", "main", { metricsToken: "the-token" }, AWAY, {}, 401],
    ["another machine with the token", "main", { metricsToken: "the-token" }, AWAY, RIGHT, 200],
    ["another machine with a wrong token", "main", { metricsToken: "the-token" }, AWAY, WRONG, 401],
    ["this machine with a wrong token", "main", { metricsToken: "the-token" }, HERE, WRONG, 401],
    ["this machine without the token", "main", { metricsToken: "the-token" }, HERE, {}, 200],
    ["the token through a proxy", "main", { publicUrl: PUBLIC, metricsToken: "the-token" }, HERE, RIGHT, 200],
    ["another machine on a listener of their own", "metrics", {}, AWAY, {}, 200],
    ["another machine there without the token", "metrics", { metricsToken: "the-token" }, AWAY, {}, 401],
    ["another machine there with the token", "metrics", { metricsToken: "the-token" }, AWAY, RIGHT, 200],
    ["a command in the same process", "local", { publicUrl: PUBLIC }, HERE, {}, 200],
  ])("when they are asked for by %s (%s), then that is as set", async (_, listener, options, from, headers, status) => {
    const http = await openHttp(options);
    const answer = await http.service.handle({ method: "GET", url: `${ORIGIN}/metrics`, headers, from }, listener);
    expect(answer.status).toBe(status);
    expect(answer.headers["www-authenticate"]).toBe(status === 401 ? 'Bearer realm="metrics"' : undefined);
    await http.store.close();
  });

  it("when the listener for metrics is asked for anything else, then only health answers", async () => {
    const { service, store } = await openHttp();
    const ask = async (path: string): Promise<number> =>
      (await service.handle({ method: "GET", url: ORIGIN + path, headers: {}, from: HERE }, "metrics")).status;
    expect([await ask("/healthz"), await ask("/readyz"), await ask("/v1/people")]).toEqual([200, 200, 404]);
    await store.close();
  });
});
