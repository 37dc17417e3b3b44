/** Which proxy a URL goes through: `HTTPS_PROXY`, `HTTP_PROXY`, `NO_PROXY`, lower case first, as curl reads them. */

export interface Proxy {
  /** Without credentials and path. */
  readonly url: URL;
  /** `Basic …` for `Proxy-Authorization`; null without credentials. */
  readonly authorization: string | null;
  /** The variable that named it. */
  readonly source: string;
}

export type Environment = Readonly<Record<string, string | undefined>>;

/** A proxy variable that cannot be used. Its value may hold a password and is not repeated. */
export class ProxySettingError extends Error {
  override readonly name = "ProxySettingError";
}

/** Why a proxy let nobody through; `passing` false where a repeat would meet the same. */
export class ProxyError extends Error {
  override readonly name = "ProxyError";
  readonly passing: boolean;

  constructor(message: string, passing: boolean, cause?: unknown) {
    super(message, { cause });
    this.passing = passing;
  }
}

/** A proxy that answered for itself. */
export function proxyRefusal({ url, source }: Proxy, status: number): ProxyError {
  const why = status === 407 ? "wants other credentials (407)" : `refused the connection (${status})`;
  return new ProxyError(`the proxy ${url.host} (${source}) ${why}`, status >= 500);
}

/** The proxy for `target`; null to go straight. Throws `ProxySettingError` for a variable that is no proxy's URL. */
export function proxyFor(target: URL, env: Environment): Proxy | null {
  const names = target.protocol === "https:" ? ["https_proxy", "HTTPS_PROXY"] : ["http_proxy", "HTTP_PROXY"];
  const source = names.find((name) => (env[name] ?? "").trim() !== "");
  if (source === undefined || isExcepted(target, env["no_proxy"] ?? env["NO_PROXY"] ?? "")) return null;
  return parseProxy((env[source] ?? "").trim(), source);
}

function parseProxy(text: string, source: string): Proxy {
  const withScheme = /^[a-z][a-z0-9+.-]*:\/\//i.test(text) ? text : `http://${text}`;
  const url = URL.canParse(withScheme) ? new URL(withScheme) : null;
  if (url === null || url.hostname === "") throw new ProxySettingError(`${source} is not the address of a proxy, like http://host:3128`);
  if (url.protocol !== "http:" && url.protocol !== "https:") {
    throw new ProxySettingError(`${source} names a ${url.protocol.slice(0, -1)} proxy; http and https proxies are supported`);
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

/** `NO_PROXY`: names with their subdomains (a leading dot or `*.` changes nothing), addresses, each with an optional port, or `*`. */
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
  const domain = name.replace(/^\*?\./, "");
  const bracketed = domain.includes(":") && !domain.startsWith("[") ? `[${domain}]` : domain;
  return domain !== "" && (host === bracketed || host.endsWith(`.${domain}`));
}
