/** Evaluates SPF records the way receivers do (RFC 7208). */
import { BlockList, isIP } from "node:net";
import type { NameResolver } from "../../../runtime/name-resolver.ts";
import { asciiName } from "./finding.ts";

export interface SpfAnswer {
  /** `none` means no record, `error` a record that receivers reject. */
  readonly result: "pass" | "fail" | "softfail" | "neutral" | "none" | "error";
  readonly record: string | null;
  readonly domains: readonly string[];
  readonly reason: string | null;
}

/** Maximum number of terms that need DNS look-ups (RFC 7208, 4.6.4). */
const LOOKUPS_MAX = 10;
const QUALIFIERS = { "+": "pass", "-": "fail", "~": "softfail", "?": "neutral" } as const;
const TERM = /^([-+~?]?)([a-z\d]+)(?::([^/]*))?(?:\/(\d+))?(?:\/\/(\d+))?$/i;

type SpfResult = SpfAnswer["result"];

class SpfError extends Error {}

/** Rejects if DNS doesn't respond. Macros, `exists` and `ptr` never match. */
export async function evaluateSpf(names: NameResolver, domain: string, address: string): Promise<SpfAnswer> {
  const evaluation = new Evaluation(names, address);
  try {
    const record = await evaluation.recordOf(domain);
    if (record === null) return { result: "none", record: null, domains: [], reason: null };
    const result = await evaluation.run(domain, record);
    return { result, record, domains: evaluation.domains, reason: null };
  } catch (error) {
    if (!(error instanceof SpfError)) throw error;
    return { result: "error", record: evaluation.first, domains: evaluation.domains, reason: error.message };
  }
}

class Evaluation {
  readonly domains: string[] = [];
  first: string | null = null;
  readonly #names: NameResolver;
  readonly #address: string;
  #lookups = 0;

  constructor(names: NameResolver, address: string) {
    this.#names = names;
    this.#address = address;
  }

  async recordOf(domain: string): Promise<string | null> {
    const records = (await this.#names.texts(domain)).filter((text) => /^v=spf1(?: |$)/i.test(text));
    this.first ??= records[0] ?? null;
    if (records.length > 1) throw new SpfError(`${domain} has ${records.length} SPF records; only one is allowed`);
    return records[0] ?? null;
  }

  async run(domain: string, record: string): Promise<SpfResult> {
    this.domains.push(asciiName(domain));
    const terms = record.split(/ +/).slice(1).filter(Boolean);
    for (const term of terms.filter((word) => !/^[a-z][\w.-]*=/i.test(word))) {
      const [, qualifier = "", name = "", target = domain, v4, v6] = TERM.exec(term) ?? this.#reject(term);
      const sign = (qualifier || "+") as keyof typeof QUALIFIERS;
      if (await this.#matches(name.toLowerCase(), target, { v4, v6, term })) return QUALIFIERS[sign];
    }
    const redirect = terms.map((term) => /^redirect=(.+)$/i.exec(term)?.[1]).find((name) => name !== undefined);
    return redirect === undefined ? "neutral" : this.#follow(redirect);
  }

  async #matches(
    name: string,
    target: string,
    { v4, v6, term }: { readonly v4: string | undefined; readonly v6: string | undefined; readonly term: string },
  ): Promise<boolean> {
    switch (name) {
      case "all":
        return true;
      case "ip4":
      case "ip6":
        return this.#isIn(term.slice(term.indexOf(":") + 1).replace(/\/.*$/, ""), /\/(\d+)$/.exec(term)?.[1]);
      case "a":
        this.#count();
        return this.#isAmong(await this.#names.addresses(target), v4, v6);
      case "mx":
        this.#count();
        return this.#isMailHost(target, v4, v6);
      case "include":
        return (await this.#follow(target)) === "pass";
      case "exists":
      case "ptr":
        this.#count();
        return false;
      default:
        return this.#reject(term);
    }
  }

  async #follow(target: string): Promise<SpfResult> {
    this.#count();
    if (target.includes("%")) return "neutral";
    const record = await this.recordOf(target);
    if (record === null) throw new SpfError(`${target}, which the record refers to, has no SPF record`);
    return this.run(target, record);
  }

  async #isMailHost(target: string, v4: string | undefined, v6: string | undefined): Promise<boolean> {
    for (const host of await this.#names.mailHosts(target))
      if (this.#isAmong(await this.#names.addresses(host), v4, v6)) return true;
    return false;
  }

  #isAmong(addresses: readonly string[], v4: string | undefined, v6: string | undefined): boolean {
    return addresses.some((address) => this.#isIn(address, isIP(address) === 4 ? v4 : v6));
  }

  #isIn(network: string, prefix: string | undefined): boolean {
    const family = isIP(network);
    if (family === 0) throw new SpfError(`${network} is not an IP address`);
    if (family !== isIP(this.#address)) return false;
    const most = family === 4 ? 32 : 128;
    const length = Number(prefix ?? most);
    if (length > most) throw new SpfError(`/${length} is not a valid prefix length`);
    const type = family === 4 ? "ipv4" : "ipv6";
    const list = new BlockList();
    list.addSubnet(network, length, type);
    return list.check(this.#address, type);
  }

  #count(): void {
    this.#lookups += 1;
    if (this.#lookups > LOOKUPS_MAX) throw new SpfError(`the record needs more than ${LOOKUPS_MAX} DNS lookups`);
  }

  #reject(term: string): never {
    throw new SpfError(`"${term}" is not a valid term`);
  }
}
