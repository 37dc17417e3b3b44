/**
 * The address of the real client, where a proxy asks for others: limits by address would otherwise take all of its
 * clients for one.
 */
import { BlockList, isIP } from "node:net";

/** An address, or a network such as `10.0.0.0/8`. */
const NETWORK = /^([^/]+)(?:\/(\d{1,3}))?$/;
/** Azure's gateway and IIS add the port of each client: `203.0.113.9:5412`, `[2001:db8::1]:80`. */
const WITH_PORT = /^(?:\[([^\]]+)\]|([\d.]+))(?::\d+)?$/;
const THIS_MACHINE = ["127.0.0.0/8", "::1"] as const;

export interface ForwardedRequest {
  readonly headers: Readonly<Record<string, string>>;
  /** Address of the caller; absent: a caller in this process. */
  readonly from?: string;
}

/**
 * `clientOf(request)`: the address that limits count by. Of `X-Forwarded-For` the last address that is no trusted
 * proxy's own, if a trusted proxy sent it; what stands before that, anybody may have written. `proxies` are addresses
 * and networks; null: this machine where there is a public URL, else none.
 */
export function createClientAddress(
  proxies: readonly string[] | null,
  publicUrl: string | null,
): (request: ForwardedRequest) => string | undefined {
  const trusted = toBlockList(proxies ?? (publicUrl === null ? [] : THIS_MACHINE));
  const isTrusted = (address: string): boolean => {
    const version = isIP(address);
    return version !== 0 && trusted.check(address, version === 4 ? "ipv4" : "ipv6");
  };
  return ({ headers, from }) => {
    const forwarded = headers["x-forwarded-for"];
    if (from === undefined || forwarded === undefined || !isTrusted(from)) return from;
    const addresses = forwarded.split(",").map((part) => withoutPort(part.trim()));
    const client = addresses.findLast((address) => !isTrusted(address));
    return client !== undefined && isIP(client) !== 0 ? client : from;
  };
}

function withoutPort(text: string): string {
  const [, version6, version4] = WITH_PORT.exec(text) ?? [];
  return version6 ?? version4 ?? text;
}

function toBlockList(networks: readonly string[]): BlockList {
  const list = new BlockList();
  for (const network of networks) {
    const [, address = "", bits] = NETWORK.exec(network) ?? [];
    const type = isIP(address) === 4 ? "ipv4" : "ipv6";
    if (bits === undefined) list.addAddress(address, type);
    else list.addSubnet(address, Number(bits), type);
  }
  return list;
}

/**
 * The addresses that one caller is likely to have, to count by: an IPv4 address, also one that is written as IPv6; the
 * /64 network of an IPv6 address, of which its owner has all. Anything else is its own group.
 */
export function addressGroup(address: string): string {
  if (isIP(address) !== 6) return address;
  const [head = "", tail = ""] = (address.split("%")[0] ?? "").split("::");
  const [left, right] = [groupsOf(head), groupsOf(tail)];
  const groups = [...left, ...Array.from({ length: 8 - left.length - right.length }, () => 0), ...right];
  const [high = 0, low = 0] = groups.slice(6);
  const isMapped = groups.slice(0, 6).join(":") === "0:0:0:0:0:65535";
  if (isMapped) return [high >> 8, high & 255, low >> 8, low & 255].join(".");
  return groups
    .slice(0, 4)
    .map((group) => group.toString(16))
    .join(":");
}

/** The 16-bit groups of a part of an IPv6 address, which may end as IPv4 does. */
function groupsOf(text: string): readonly number[] {
  const parts = text === "" ? [] : text.split(":");
  return parts.flatMap((part) => {
    if (!part.includes(".")) return [Number.parseInt(part, 16)];
    const [a = 0, b = 0, c = 0, d = 0] = part.split(".").map(Number);
    return [a * 256 + b, c * 256 + d];
  });
}
