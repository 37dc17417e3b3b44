import { expect, it } from "vitest";
import { addressGroup, TrustedProxies } from "../../../src/service/http/client-address.ts";
import { openHttp, ORIGIN } from "./fixture.ts";

const PUBLIC = "https://survey.example.com";
const HERE = "127.0.0.1";

it.each<[string, readonly string[] | null, string | null, string | undefined, string | undefined, string | undefined]>([
  ["a proxy on this machine, with a public URL", null, PUBLIC, HERE, "192.0.2.1", "192.0.2.1"],
  ["the same by IPv6", null, PUBLIC, "::1", "2001:db8::1", "2001:db8::1"],
  ["the same by IPv4 in IPv6", null, PUBLIC, "::ffff:127.0.0.1", "192.0.2.1", "192.0.2.1"],
  ["a client on this machine, without a public URL", null, null, HERE, "192.0.2.1", HERE],
  ["a client elsewhere that pretends to be a proxy", null, PUBLIC, "10.0.0.9", "192.0.2.1", "10.0.0.9"],
  ["a client that wrote an address of its own first", null, PUBLIC, HERE, "1.1.1.1, 192.0.2.1", "192.0.2.1"],
  ["two proxies, one behind the other", ["10.0.0.0/8", HERE], null, HERE, "1.1.1.1, 192.0.2.1, 10.1.2.3", "192.0.2.1"],
  ["a proxy that adds the client's port", null, PUBLIC, HERE, "203.0.113.9:5412", "203.0.113.9"],
  ["the same by IPv6", null, PUBLIC, HERE, "[2001:db8::1]:80", "2001:db8::1"],
  ["a proxy that puts IPv6 in brackets", null, PUBLIC, HERE, "[2001:db8::1]", "2001:db8::1"],
  ["two proxies that add ports", ["10.0.0.0/8", HERE], null, HERE, "192.0.2.1:1, 10.1.2.3:443", "192.0.2.1"],
  ["a proxy that was not named, where others were", ["10.0.0.1"], PUBLIC, HERE, "192.0.2.1", HERE],
  ["a proxy that names no address", null, PUBLIC, HERE, "unknown", HERE],
  ["a proxy that names only itself", null, PUBLIC, HERE, "127.0.0.1", HERE],
  ["a proxy that names nobody", null, PUBLIC, HERE, undefined, HERE],
  ["a caller in this process", null, PUBLIC, undefined, "192.0.2.1", undefined],
])("when %s asks, then limits count by the right address", (_, proxies, publicUrl, from, forwarded, client) => {
  const headers: Record<string, string> = forwarded === undefined ? {} : { "x-forwarded-for": forwarded };
  expect(new TrustedProxies(proxies, publicUrl).clientAddress({ headers, ...(from !== undefined && { from }) })).toBe(
    client,
  );
});

it("when one client of a proxy tries wrong keys, then the others go on", async () => {
  const http = await openHttp({ publicUrl: PUBLIC });
  const ask = async (client: string): Promise<number> => {
    const headers = { authorization: "Basic d3Jvbmc6", "x-forwarded-for": client };
    return (await http.service.handle({ method: "GET", url: `${ORIGIN}/v1/people`, headers, from: HERE })).status;
  };
  for (let count = 0; count < 60; count += 1) await ask("192.0.2.1");
  expect([await ask("192.0.2.1"), await ask("192.0.2.2")]).toEqual([429, 401]);
  await http.store.close();
});

it.each([
  ["192.0.2.1", "192.0.2.1"],
  ["::ffff:192.0.2.1", "192.0.2.1"],
  ["::FFFF:c000:201", "192.0.2.1"],
  ["2001:db8::", "2001:db8:0:0"],
  ["2001:db8::ff", "2001:db8:0:0"],
  ["2001:0db8:0:0:1:2:3:4", "2001:db8:0:0"],
  ["2001:DB8:0:1::1", "2001:db8:0:1"],
  ["::1", "0:0:0:0"],
  ["fe80::1%eth0", "fe80:0:0:0"],
  ["64:ff9b::192.0.2.1", "64:ff9b:0:0"],
  ["not an address", "not an address"],
])("%s counts as %s", (address, group) => {
  expect(addressGroup(address)).toBe(group);
});
