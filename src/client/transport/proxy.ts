/** As in curl, lower-case names take precedence. */

import { BlockList, isIP } from "node:net";
import { isThisMachine } from "../../runtime/name-resolver.ts";

export interface Proxy {
  readonly url: URL;
  readonly authorization: string | null;
  /** Name of the environment variable. */
  readonly source: string;
}

export type ProxyEnvironment = Readonly<Record<string, string | undefined>>;

/** The message doesn't quote the value, which may contain a password. */
export class ProxySettingError extends Error {
  override readonly name = "ProxySettingError";
}

/** `passing` is true if a retry may help. */
export class ProxyError extends Error {
  override readonly name = "ProxyError";
  readonly passing: boolean;

  constructor(message: string, passing: boolean, cause?: unknown) {
    super(message, { cause });
    this.passing = passing;
  }
}

export function proxyRefusal(proxy: Proxy, status: number): ProxyError {
  const why = status === 407 ? "wants other credentials (407)" : `refused the connection (${status})`;
  return new ProxyError(`the proxy ${nameProxy(proxy)} ${why}`, status >= 500);
}

export function unreachableProxy(proxy: Proxy, error: Error & { readonly code?: string }): ProxyError {
  // An AggregateError (a name with several addresses) has no message.
  const why = error.message === "" ? (error.code ?? "no connection") : error.message;
  return new ProxyError(`cannot reach the proxy ${nameProxy(proxy)}: ${why}`, true, error);
}

export function slowProxy(proxy: Proxy): ProxyError {
  return new ProxyError(`the proxy ${nameProxy(proxy)} did not answer in time`, true);
}

function nameProxy({ url, source }: Proxy): string {
  return `${url.host} (${source})`;
}

/** Returns proxy credentials both as written and decoded, so that both forms can be removed from all output. */
export function proxyCredentials(env: ProxyEnvironment): string[] {
  const urls = [...VARIABLES["https:"], ...VARIABLES["http:"]].map((name) => env[name] ?? "");
  return urls.flatMap((url) => {
    const written = /^\s*(?:[a-z][a-z0-9+.-]*:\/\/)?([^/?#]*:[^/?#]+)@/i.exec(url)?.[1];
    return written === undefined ? [] : [written, decode(written)];
  });
}

const VARIABLES = { "https:": ["https_proxy", "HTTPS_PROXY"], "http:": ["http_proxy", "HTTP_PROXY"] } as const;

/**
 * Null for a direct connection. Loopback addresses never use a proxy: it would see the key in plain HTTP, and its
 * loopback is another machine. Throws `ProxySettingError`.
 */
export function proxyFor(target: URL, env: ProxyEnvironment): Proxy | null {
  if (isThisMachine(target.hostname)) return null;
  const names = VARIABLES[target.protocol === "https:" ? "https:" : "http:"];
  const source = names.find((name) => (env[name] ?? "").trim() !== "");
  if (source === undefined || isExcepted(target, env["no_proxy"] ?? env["NO_PROXY"] ?? "")) return null;
  return parseProxy((env[source] ?? "").trim(), source);
}

function parseProxy(text: string, source: string): Proxy {
  const withScheme = /^[a-z][a-z0-9+.-]*:\/\//i.test(text) ? text : `http://${text}`;
  const url = URL.canParse(withScheme) ? new URL(withScheme) : null;
  if (url === null || url.hostname === "")
    throw new ProxySettingError(`${source} is not the address of a proxy, like http://host:3128`);
  if (url.protocol !== "http:" && url.protocol !== "https:") {
    throw new ProxySettingError(
      `${source} names a ${url.protocol.slice(0, -1)} proxy; http and https proxies are supported`,
    );
  }
  const credentials = `${decode(url.username)}:${decode(url.password)}`;
  const authorization = credentials === ":" ? null : `Basic ${Buffer.from(credentials).toString("base64")}`;
  return { url: new URL(url.origin), authorization, source };
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** Matches `NO_PROXY`: domains with their subdomains, addresses and CIDR blocks, each with an optional port, or `*`. */
function isExcepted(target: URL, noProxy: string): boolean {
  const host = target.hostname.toLowerCase();
  const port = target.port === "" ? (target.protocol === "https:" ? "443" : "80") : target.port;
  return noProxy
    .toLowerCase()
    .split(/[\s,]+/)
    .filter((entry) => entry !== "")
    .some((entry) => entry === "*" || matches(entry, host, port));
}

function matches(entry: string, host: string, port: string): boolean {
  const [, name = "", wantedPort] = /^(\[[^\]]*\]|[^:]*:[^:]*:.*|[^:]*)(?::(\d+))?$/.exec(entry) ?? [];
  if (wantedPort !== undefined && wantedPort !== port) return false;
  if (name.includes("/")) return isInBlock(bare(host), bare(name));
  const domain = name.replace(/^\*?\./, "");
  const bracketed = domain.includes(":") && !domain.startsWith("[") ? `[${domain}]` : domain;
  return domain !== "" && (host === bracketed || host.endsWith(`.${domain}`));
}

function bare(host: string): string {
  return host.replace(/^\[|\]$/g, "");
}

/** `block` is in CIDR notation; an invalid one contains nothing. */
function isInBlock(address: string, block: string): boolean {
  const [network = "", length = ""] = block.split("/");
  const family = isIP(network);
  const fits = /^\d{1,3}$/.test(length) && Number(length) <= (family === 4 ? 32 : 128);
  if (family === 0 || family !== isIP(address) || !fits) return false;
  const type = family === 4 ? "ipv4" : "ipv6";
  const blocks = new BlockList();
  blocks.addSubnet(network, Number(length), type);
  return blocks.check(address, type);
}
