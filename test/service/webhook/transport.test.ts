/** Names are resolved by stubs, so no test connects to anything but loopback. */
import type { LookupAddress } from "node:dns";
import { afterEach, describe, expect, it, test } from "vitest";
import { systemClock } from "../../../src/runtime/clock.ts";
import { checkedLookup, EndpointTransport, type Resolve } from "../../../src/service/webhook/transport.ts";
import { startHookReceiver, type HookReceiver } from "../../helpers/hook-receiver.ts";

const closing: (() => void | Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});

const address = (text: string): LookupAddress => ({ address: text, family: text.includes(":") ? 6 : 4 });

function resolving(...answers: readonly (readonly string[])[]): { resolve: Resolve; asked: string[] } {
  const asked: string[] = [];
  return {
    asked,
    resolve: async (name) => {
      asked.push(name);
      return (answers[asked.length - 1] ?? answers.at(-1) ?? []).map(address);
    },
  };
}

const reach = { allowPrivate: false, insecureHttp: false };

function look(url: string, resolve: Resolve, given = reach, all = true): Promise<unknown> {
  const lookup = checkedLookup(new URL(url), given, resolve);
  return new Promise((done) => {
    lookup(new URL(url).hostname, { all }, (error, found) => done(error === null ? found : error.message));
  });
}

describe("a name", () => {
  it.each<[string, string, readonly string[], Partial<typeof reach>, unknown]>([
    ["public", "https://hook.example", ["93.184.216.34"], {}, [address("93.184.216.34")]],
    [
      "private, and not allowed",
      "https://hook.example",
      ["10.0.0.1"],
      {},
      "hook.example resolves to 10.0.0.1, a private address",
    ],
    ["private, and allowed", "https://hook.example", ["10.0.0.1"], { allowPrivate: true }, [address("10.0.0.1")]],
    [
      "private and plain, and allowed",
      "http://hook.example",
      ["10.0.0.1"],
      { allowPrivate: true },
      [address("10.0.0.1")],
    ],
    [
      "public and plain, where private is allowed",
      "http://hook.example",
      ["93.184.216.34"],
      { allowPrivate: true },
      "http:// would send answers unencrypted",
    ],
    [
      "loopback, whatever is allowed",
      "https://hook.example",
      ["127.0.0.1"],
      { allowPrivate: true, insecureHttp: true },
      "hook.example resolves to 127.0.0.1, a loopback address",
    ],
    [
      "loopback with a name that says so",
      "https://hook.localhost",
      ["::1"],
      { allowPrivate: true },
      "hook.localhost resolves to ::1, a loopback address",
    ],
    [
      "public, with one that is not among them",
      "https://hook.example",
      ["93.184.216.34", "169.254.169.254"],
      { allowPrivate: true },
      "hook.example resolves to 169.254.169.254, an address that webhooks never reach",
    ],
    ["nothing", "https://hook.example", [], {}, "hook.example has no address"],
  ])("when it leads to what is %s, then the look-up says so", async (_, url, found, given, expected) => {
    expect(await look(url, resolving(found).resolve, { ...reach, ...given })).toEqual(expected);
  });

  test("when one address is asked for, then it is the first of those that were checked", async () => {
    expect(await look("https://hook.example", resolving(["93.184.216.34", "1.1.1.1"]).resolve, reach, false)).toBe(
      "93.184.216.34",
    );
  });
});

async function open(resolve: Resolve): Promise<{
  post: (url: string, given?: typeof reach) => Promise<string>;
  receiver: HookReceiver;
}> {
  const receiver = await startHookReceiver();
  const transport = new EndpointTransport({ clock: systemClock, own: () => [], resolve }, 4);
  closing.push(() => transport.close(), receiver.close);
  const { signal } = new AbortController();
  return {
    receiver,
    post: async (url, given = { allowPrivate: true, insecureHttp: true }) =>
      (await transport.post({ url, ...given }, {}, "{}", signal))!.text,
  };
}

test("when a name leads to loopback from the second time on, then nothing is sent there", async () => {
  const { resolve, asked } = resolving(["127.0.0.1"]);
  const { post, receiver } = await open(resolve);
  const url = `http://rebound.example:${receiver.port}/hook`;
  const refusal = "rebound.example resolves to 127.0.0.1, a loopback address";
  expect([await post(url), await post(url)]).toEqual([refusal, refusal]);
  expect({ asked, received: receiver.received }).toEqual({
    asked: ["rebound.example", "rebound.example"],
    received: [],
  });
});

test("when a proxy is set in the environment, then it is not used", async () => {
  const { post, receiver } = await open(resolving([]).resolve);
  const before = { ...process.env };
  Object.assign(process.env, {
    http_proxy: "http://127.0.0.1:1",
    HTTP_PROXY: "http://127.0.0.1:1",
    NODE_USE_ENV_PROXY: "1",
  });
  try {
    expect(await post(`${receiver.url}/hook`)).toBe("answer 1");
  } finally {
    for (const name of ["http_proxy", "HTTP_PROXY", "NODE_USE_ENV_PROXY"]) {
      if (before[name] === undefined) delete process.env[name];
      else process.env[name] = before[name];
    }
  }
});

test("when a literal address is not allowed any more, then no connection is made", async () => {
  const { post, receiver } = await open(resolving([]).resolve);
  expect(await post(`${receiver.url}/hook`, reach)).toBe("127.0.0.1, a loopback address");
  expect(receiver.received).toEqual([]);
});

test("when a connection that was kept open has been closed, then the attempt goes over a new one", async () => {
  const { post, receiver } = await open(resolving([]).resolve);
  const first = await post(`${receiver.url}/hook`);
  receiver.dropConnections();
  expect([first, await post(`${receiver.url}/hook`)]).toEqual(["answer 1", "answer 2"]);
});
