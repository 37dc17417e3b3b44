import { BlockList, isIP } from "node:net";

/** `never` is for addresses that only attackers would use: cloud metadata, multicast, and ranges without hosts. */
export type AddressKind = "public" | "private" | "loopback" | "never";

function blockList(...subnets: readonly string[]): BlockList {
  const blocks = new BlockList();
  for (const subnet of subnets) {
    const [network = "", length] = subnet.split("/");
    blocks.addSubnet(network, Number(length), isIP(network) === 6 ? "ipv6" : "ipv4");
  }
  return blocks;
}

/** Checked before the private ranges, which contain the metadata services of some clouds. */
const NEVER = blockList(
  "0.0.0.0/8",
  "100.100.100.200/32",
  "168.63.129.16/32",
  "169.254.0.0/16",
  "192.0.0.0/24",
  "192.0.2.0/24",
  "192.88.99.0/24",
  "198.18.0.0/15",
  "198.51.100.0/24",
  "203.0.113.0/24",
  "224.0.0.0/4",
  "240.0.0.0/4",
  "2001::/23",
  "2001:db8::/32",
  "3fff::/20",
  "fd00:ec2::254/128",
);
const LOOPBACK = blockList("127.0.0.0/8", "::1/128");
const PRIVATE = blockList("10.0.0.0/8", "100.64.0.0/10", "172.16.0.0/12", "192.168.0.0/16", "fc00::/7");
/** All other IPv6 addresses are link-local, multicast or unassigned. */
const GLOBAL_UNICAST = blockList("2000::/3");

export function classifyAddress(address: string): AddressKind {
  const plain = address.split("%")[0] ?? "";
  if (isIP(plain) === 4) return classify(plain, "ipv4");
  if (isIP(plain) !== 6) return "never";
  const carried = carriedAddress(plain);
  return carried === null ? classify(plain, "ipv6") : classify(carried, "ipv4");
}

function classify(address: string, family: "ipv4" | "ipv6"): AddressKind {
  if (NEVER.check(address, family)) return "never";
  if (LOOPBACK.check(address, family)) return "loopback";
  if (PRIVATE.check(address, family)) return "private";
  return family === "ipv4" || GLOBAL_UNICAST.check(address, family) ? "public" : "never";
}

/** The IPv4 address inside a mapped, translated (NAT64), 6to4 or compatible IPv6 address, or null. */
function carriedAddress(address: string): string | null {
  const words = ipv6Words(address);
  const starts = (...prefix: readonly number[]): boolean => prefix.every((word, at) => words[at] === word);
  if (starts(0x2002)) return dotted(words[1], words[2]);
  const isMapped = starts(0, 0, 0, 0, 0, 0xffff) || starts(0, 0, 0, 0, 0xffff, 0);
  const isTranslated = starts(0x64, 0xff9b, 0, 0, 0, 0);
  const isCompatible = starts(0, 0, 0, 0, 0, 0) && ((words[6] ?? 0) > 0 || (words[7] ?? 0) > 1);
  return isMapped || isTranslated || isCompatible ? dotted(words[6], words[7]) : null;
}

export function dotted(high = 0, low = 0): string {
  return [high >> 8, high & 255, low >> 8, low & 255].join(".");
}

export function ipv6Words(address: string): number[] {
  const [head = "", tail] = new URL(`http://[${address}]/`).hostname.slice(1, -1).split("::");
  const [first, last] = [readWords(head), readWords(tail ?? "")];
  return tail === undefined ? first : [...first, ...Array<number>(8 - first.length - last.length).fill(0), ...last];
}

function readWords(text: string): number[] {
  return text === "" ? [] : text.split(":").map((word) => Number.parseInt(word, 16));
}

export interface WebhookReach {
  readonly allowPrivate: boolean;
  readonly insecureHttp: boolean;
}

export interface UrlRefusal {
  readonly code: "invalid" | "scheme" | "credentials" | "plain" | "private" | "loopback" | "never" | "own";
  /** A sentence without the full stop. */
  readonly message: string;
}

/** The IP address in a URL, with 127.0.0.1 for `localhost`. Null for host names that need a look-up. */
function literalAddress({ hostname }: URL): string | null {
  if (hostname === "localhost") return "127.0.0.1";
  const bare = hostname.replace(/^\[|\]$/g, "");
  return isIP(bare) === 0 ? null : bare;
}

/**
 * Why a webhook can't have this URL; null if it can. Host names are checked at each connection. Events sent to our
 * `own` addresses could loop.
 */
export function refuseUrl(text: string, reach: WebhookReach, own: readonly string[]): UrlRefusal | null {
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url === null || url.hostname === "") return { code: "invalid", message: "it is not a URL" };
  if (url.protocol !== "https:" && url.protocol !== "http:")
    return { code: "scheme", message: `${url.protocol.slice(0, -1)} is not supported` };
  if (url.username !== "" || url.password !== "")
    return { code: "credentials", message: "the URL contains credentials" };
  if (own.some((address) => isSamePlace(url, new URL(address))))
    return { code: "own", message: "it is an address of this service" };
  const literal = literalAddress(url);
  const refusal = literal === null ? null : refuseAddress(literal, url, reach);
  if (refusal !== null) return refusal;
  if (literal === null && url.protocol === "http:" && !reach.insecureHttp && !reach.allowPrivate) return PLAIN;
  return null;
}

const PLAIN: UrlRefusal = { code: "plain", message: "http:// would send answers unencrypted" };

/** `address` is what the host of `url` resolved to. Null if it is allowed. */
export function refuseAddress(address: string, url: URL, reach: WebhookReach): UrlRefusal | null {
  const kind = classifyAddress(address);
  const named = literalAddress(url) === null ? `${url.hostname} resolves to ${address}` : url.hostname;
  if (kind === "never") return { code: "never", message: `${named}, an address that webhooks never reach` };
  if (kind === "loopback" && (!reach.allowPrivate || literalAddress(url) === null))
    return { code: "loopback", message: `${named}, a loopback address` };
  if (kind === "private" && !reach.allowPrivate) return { code: "private", message: `${named}, a private address` };
  if (kind === "public" && url.protocol === "http:" && !reach.insecureHttp) return PLAIN;
  return null;
}

/** Ports 80 and 443 of a host count as the same service, because one usually redirects to the other. */
function isSamePlace(one: URL, other: URL): boolean {
  const [ports, web] = [
    [portOf(one), portOf(other)],
    ["80", "443"],
  ];
  const isSamePort = ports[0] === ports[1] || ports.every((port) => web.includes(port));
  return isSamePort && (hostOf(one) === hostOf(other) || (isHere(one) && isHere(other)));
}

function hostOf({ hostname }: URL): string {
  return hostname.replace(/\.$/, "");
}

/** A server that listens on all addresses also listens on loopback. */
function isHere(url: URL): boolean {
  return ["0.0.0.0", "[::]"].includes(url.hostname) || classifyAddress(literalAddress(url) ?? "") === "loopback";
}

function portOf({ port, protocol }: URL): string {
  return port || (protocol === "https:" ? "443" : "80");
}
