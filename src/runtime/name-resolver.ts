import type { Resolver } from "node:dns/promises";
import { isIPv4 } from "node:net";

/** DNS, replaceable in tests. An empty list means that there are no such records. */
export interface NameResolver {
  addresses(name: string): Promise<readonly string[]>;
  /** Ordered by preference; a null MX (RFC 7505) is an empty name. */
  mailHosts(name: string): Promise<readonly string[]>;
  texts(name: string): Promise<readonly string[]>;
}

const TIMEOUT_MS = 5_000;
const TRIES = 2;
const NO_RECORD: ReadonlySet<unknown> = new Set(["ENOTFOUND", "ENODATA"]);

async function openResolver(servers: readonly string[] | null): Promise<Resolver> {
  const dns = await import("node:dns/promises");
  const resolver = new dns.Resolver({ timeout: TIMEOUT_MS, tries: TRIES });
  if (servers !== null) resolver.setServers(servers);
  return resolver;
}

/** `servers` are `host:port`; null uses the system's. Rejects on errors and timeouts. */
export function createNameResolver(servers: readonly string[] | null = null): NameResolver {
  let resolver: Promise<Resolver> | null = null;
  const ask = async <Row>(question: (dns: Resolver) => Promise<Row[]>): Promise<Row[]> => {
    resolver ??= openResolver(servers);
    try {
      return await question(await resolver);
    } catch (error) {
      if (NO_RECORD.has((error as NodeJS.ErrnoException).code)) return [];
      throw error;
    }
  };
  return {
    addresses: async (name) => [
      ...(await ask((dns) => dns.resolve4(name))),
      ...(await ask((dns) => dns.resolve6(name))),
    ],
    mailHosts: async (name) => {
      const rows = await ask((dns) => dns.resolveMx(name));
      return rows.toSorted((a, b) => a.priority - b.priority).map(({ exchange }) => exchange);
    },
    texts: async (name) => (await ask((dns) => dns.resolveTxt(name))).map((parts) => parts.join("")),
  };
}

/** Also true for names below `localhost` (RFC 6761) and IPv4-mapped IPv6 loopback addresses. */
export function isThisMachine(host: string): boolean {
  const name = host.replace(/\.$/, "");
  return isLoopbackHost(name) || name.endsWith(".localhost") || /^\[::ffff:7f[\da-f]{2}:[\da-f]{1,4}\]$/.test(name);
}

export function isLoopbackHost(host: string): boolean {
  return host === "localhost" || /^(?:::1|\[::1\])$/.test(host) || (isIPv4(host) && host.startsWith("127."));
}
