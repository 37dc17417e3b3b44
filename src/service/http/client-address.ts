/** The client's address behind a proxy. Without it, rate limits would treat all of the proxy's clients as one. */
import { BlockList, isIP } from "node:net";
import { dotted, ipv6Words } from "../domain/webhooks/addresses.ts";

/** An address, or a network such as `10.0.0.0/8`. */
const NETWORK = /^([^/]+)(?:\/(\d{1,3}))?$/;
/** Azure's gateway and IIS append the client's port: `203.0.113.9:5412`, `[2001:db8::1]:80`. */
const WITH_PORT = /^(?:\[([^\]]+)\]|([\d.]+))(?::\d+)?$/;
const THIS_MACHINE = ["127.0.0.0/8", "::1"] as const;

export interface ForwardedRequest {
  readonly headers: Readonly<Record<string, string>>;
  /** Undefined for a caller in this process. */
  readonly from?: string;
}

export class TrustedProxies {
  readonly #networks = new BlockList();

  /** `networks` are addresses and networks; null trusts loopback if there is a public URL. */
  constructor(networks: readonly string[] | null, publicUrl: string | null) {
    for (const network of networks ?? (publicUrl === null ? [] : THIS_MACHINE)) {
      const [, address = "", bits] = NETWORK.exec(network) ?? [];
      const type = isIP(address) === 4 ? "ipv4" : "ipv6";
      if (bits === undefined) this.#networks.addAddress(address, type);
      else this.#networks.addSubnet(address, Number(bits), type);
    }
  }

  /** The last address in `X-Forwarded-For` that isn't a trusted proxy's; anyone can forge earlier ones. */
  clientAddress({ headers, from }: ForwardedRequest): string | undefined {
    const forwarded = headers["x-forwarded-for"];
    if (from === undefined || forwarded === undefined || !this.#has(from)) return from;
    const addresses = forwarded.split(",").map((part) => withoutPort(part.trim()));
    const client = addresses.findLast((address) => !this.#has(address));
    return client !== undefined && isIP(client) !== 0 ? client : from;
  }

  #has(address: string): boolean {
    const version = isIP(address);
    return version !== 0 && this.#networks.check(address, version === 4 ? "ipv4" : "ipv6");
  }
}

function withoutPort(text: string): string {
  const [, version6, version4] = WITH_PORT.exec(text) ?? [];
  return version6 ?? version4 ?? text;
}

/** Groups addresses for rate limits: an IPv4 address (including IPv4-mapped), or a /64 network, which has one owner. */
export function addressGroup(address: string): string {
  if (isIP(address) !== 6) return address;
  const words = ipv6Words(address.split("%")[0] ?? "");
  const isMapped = words.slice(0, 6).join(":") === "0:0:0:0:0:65535";
  if (isMapped) return dotted(words[6], words[7]);
  return words
    .slice(0, 4)
    .map((word) => word.toString(16))
    .join(":");
}
