import { describe, expect, it } from "vitest";
import { proxyCredentials, proxyFor, unreachableProxy } from "../../../src/client/transport/proxy.ts";

const hostOf = (url: string, env: Record<string, string>): string | null =>
  proxyFor(new URL(url), env)?.url.host ?? null;

describe("which proxy", () => {
  it.each<[string, Record<string, string>, string | null]>([
    ["https://api.example.com", {}, null],
    ["https://api.example.com", { HTTPS_PROXY: "http://proxy:3128" }, "proxy:3128"],
    ["https://api.example.com", { https_proxy: "http://lower:1", HTTPS_PROXY: "http://upper:2" }, "lower:1"],
    ["https://api.example.com", { HTTP_PROXY: "http://proxy:3128" }, null],
    ["http://api.example.com", { HTTP_PROXY: "http://proxy:3128" }, "proxy:3128"],
    ["http://192.0.2.1:80", { http_proxy: "proxy:3128" }, "proxy:3128"],
    ["https://api.example.com", { HTTPS_PROXY: "  " }, null],
  ])("when %s is asked for with %o", (url, env, expected) => {
    expect(hostOf(url, env)).toBe(expected);
  });
});

describe("this machine", () => {
  it.each([
    "http://127.0.0.1:8080",
    "http://127.1",
    "http://127.8.9.10",
    "http://localhost:8080",
    "https://LOCALHOST",
    "http://localhost.:8080",
    "http://surveys.localhost",
    "http://[::1]:8080",
    "https://[0:0:0:0:0:0:0:1]",
    "http://[::ffff:127.0.0.1]:8080",
  ])("%s is never reached through a proxy", (url) => {
    expect(hostOf(url, { HTTP_PROXY: "http://proxy:1", HTTPS_PROXY: "http://proxy:1" })).toBeNull();
  });

  it.each(["http://127.0.0.1.example.com", "http://[::2]", "http://localhost.example.com", "http://128.0.0.1"])(
    "%s is another machine",
    (url) => {
      expect(hostOf(url, { HTTP_PROXY: "http://proxy:1" })).toBe("proxy:1");
    },
  );
});

describe("NO_PROXY", () => {
  it.each<[string, string, boolean]>([
    ["*", "https://api.example.com", true],
    ["example.com", "https://example.com", true],
    ["example.com", "https://api.example.com", true],
    [".example.com", "https://api.example.com", true],
    [".example.com", "https://example.com", true],
    ["*.example.com", "https://api.example.com", true],
    ["example.com", "https://badexample.com", false],
    ["EXAMPLE.com", "https://api.Example.COM", true],
    ["other.org, example.com", "https://example.com", true],
    ["other.org example.com", "https://example.com", true],
    ["example.com:443", "https://example.com", true],
    ["example.com:8443", "https://example.com", false],
    ["example.com:8443", "https://example.com:8443", true],
    ["192.0.2.1", "https://192.0.2.1:8443", true],
    ["2001:db8::1", "https://[2001:db8::1]:8443", true],
    ["[2001:db8::1]:8443", "https://[2001:db8::1]:8443", true],
    ["[2001:db8::1]:1", "https://[2001:db8::1]:8443", false],
    ["", "https://example.com", false],
    [".", "https://example.com", false],
    ["10.0.0.0/8", "https://10.1.2.3", true],
    ["10.0.0.0/8", "https://11.1.2.3", false],
    ["10.0.0.0/8", "https://10.example.com", false],
    ["192.168.4.0/22:8443", "https://192.168.7.9:8443", true],
    ["192.168.4.0/22:8443", "https://192.168.7.9", false],
    ["0.0.0.0/0", "https://192.168.7.9", true],
    ["fd00::/8", "https://[fd12:3456::1]", true],
    ["[fd00::/8]:443", "https://[fd12:3456::1]", true],
    ["fd00::/8", "https://[fe80::1]", false],
    ["10.0.0.0/33", "https://10.1.2.3", false],
    ["10.0.0.0/", "https://10.1.2.3", false],
    ["example.com/24", "https://example.com", false],
  ])("when it is %j and %s is asked for", (noProxy, url, straight) => {
    expect(hostOf(url, { HTTPS_PROXY: "http://proxy:1", NO_PROXY: noProxy }) === null).toBe(straight);
    expect(hostOf(url, { HTTPS_PROXY: "http://proxy:1", no_proxy: noProxy }) === null).toBe(straight);
  });
});

describe("a proxy's address", () => {
  it("when it carries credentials, then they become a header and leave the address", () => {
    const proxy = proxyFor(new URL("https://api.example.com"), { HTTPS_PROXY: "http://user:p%40ss@proxy:3128/" });
    expect(proxy).toEqual({
      url: new URL("http://proxy:3128"),
      authorization: `Basic ${Buffer.from("user:p@ss").toString("base64")}`,
      source: "HTTPS_PROXY",
    });
  });

  it.each<[string, string[]]>([
    ["http://user:p%40ss@proxy:3128/", ["user:p%40ss", "user:p@ss"]],
    ["user:pass@proxy", ["user:pass", "user:pass"]],
    [" socks5://:pass@proxy", [":pass", ":pass"]],
    ["http://user@proxy:3128", []],
    ["http://proxy:3128/a:b@c", []],
  ])("when it is %j, then its credentials are known as what no text may show", (value, expected) => {
    expect(proxyCredentials({ https_proxy: value })).toEqual(expected);
    expect(proxyCredentials({ HTTP_PROXY: value })).toEqual(expected);
  });

  it("when all addresses of its name fail, then their code is told", () => {
    const error = Object.assign(new AggregateError([]), { code: "ECONNREFUSED" });
    const proxy = proxyFor(new URL("http://h"), { http_proxy: "localhost:1" });
    expect(proxy === null ? null : unreachableProxy(proxy, error).message).toBe(
      "cannot reach the proxy localhost:1 (http_proxy): ECONNREFUSED",
    );
  });

  it.each([
    ["socks5://user:secret@proxy:1080", "HTTPS_PROXY names a socks5 proxy; http and https proxies are supported"],
    ["http://user:secret@:99999", "HTTPS_PROXY is not the address of a proxy, like http://host:3128"],
  ])("when it is %s, then the sentence does not repeat it", (value, message) => {
    expect(() => proxyFor(new URL("https://api.example.com"), { HTTPS_PROXY: value })).toThrow(message);
  });
});
