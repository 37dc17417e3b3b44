import { isIP } from "node:net";
import { activationSocket } from "../../../runtime/files/processes.ts";
import { isLoopbackHost } from "../../../runtime/name-resolver.ts";
import { readFlagFile } from "../../args/text-file.ts";
import { badValue } from "../../args/values.ts";
import { UsageError } from "../../errors/usage-error.ts";

export interface TlsFiles {
  readonly tlsCert: string | null;
  readonly tlsKey: string | null;
}

export interface Exposure extends TlsFiles {
  readonly host: string;
  readonly publicUrl: string | null;
  readonly insecureHttp: boolean;
}

/** Keys and personal data must not cross a network in plain text unless a flag allows it. Throws UsageError. */
export function checkExposure({ host, publicUrl, insecureHttp, tlsCert, tlsKey }: Exposure): void {
  if ((tlsCert === null) !== (tlsKey === null)) {
    throw new UsageError(tlsCert === null ? "--tls-key requires --tls-cert" : "--tls-cert requires --tls-key");
  }
  const isSafe = isLoopbackHost(host) || tlsCert !== null || publicUrl?.startsWith("https://") === true || insecureHttp;
  if (isSafe) return;
  throw new UsageError(`--host ${host}: refusing to serve keys and data without TLS beyond this machine`, {
    hint: "use --tls-cert and --tls-key, --public-url https://… behind a proxy, or --insecure-http on a trusted network",
  });
}

/** Links in messages are opened on other machines, so they need a public URL. Throws UsageError. */
export function checkLinks(
  publicUrl: string | null,
  { isLocal, isMailing, isTexting }: Readonly<Record<"isLocal" | "isMailing" | "isTexting", boolean>>,
): void {
  if (isLocal || publicUrl !== null || !(isMailing || isTexting)) return;
  const [means, links] = isMailing ? ["a mail server", "links in mail"] : ["an SMS gateway", "links in texts"];
  const way = isMailing ? "" : " --sms-mode conversation for texts without links,";
  throw new UsageError(`--public-url is required with ${means}: ${links} would only work on this machine`, {
    hint: `use --public-url https://survey.example.com,${way} or --local-links to try it out on this machine`,
  });
}

/** Parses `ADDRESS:PORT`, with IPv6 addresses in brackets. Throws UsageError. */
export function parseAddressAndPort(text: string, place: string): { readonly host: string; readonly port: number } {
  const [, bracketed, plain, port = ""] = /^(?:\[([\da-f:.]+)\]|([\w.-]+)):(\d{1,5})$/i.exec(text) ?? [];
  const host = bracketed ?? plain;
  if (host === undefined || Number(port) > 65_535) throw badValue(place, text, "ADDRESS:PORT such as 127.0.0.1:9464");
  return { host, port: Number(port) };
}

export function parseNetwork(text: string, place: string): string {
  const [, address = "", bits = "0"] = /^([^/]+)(?:\/(\d{1,3}))?$/.exec(text) ?? [];
  const version = isIP(address);
  if (version === 0 || Number(bits) > (version === 4 ? 32 : 128))
    throw badValue(place, text, "an address or network such as 10.0.0.0/8");
  return text;
}

export async function readToken(flag: string, file: string): Promise<string> {
  const [token = ""] = (await readFlagFile(flag, file)).trim().split(/\r?\n/);
  if (!/^[\x21-\x7e]+$/.test(token))
    throw new UsageError(`${flag}: ${file} must hold one token of visible ASCII characters`);
  return token;
}

export function readActivation(env: Readonly<Record<string, string | undefined>>): number | null {
  try {
    return activationSocket(env);
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : "LISTEN_FDS is not valid", { cause: error });
  }
}

/** The URL at which this machine can reach the server; prefers a host named in the certificate (PEM). */
export async function reachableUrl(url: string, certificate: string | null): Promise<string> {
  const { X509Certificate } = await import("node:crypto");
  const names = certificate === null ? "" : (new X509Certificate(certificate).subjectAltName ?? "");
  const [, host] = /\bDNS:([^,*]+)/.exec(names) ?? [];
  if (host !== undefined) return url.replace(/\/\/(?:\[.*\]|[^:/]+)/, `//${host}`);
  return url.replace("//0.0.0.0", "//127.0.0.1").replace("//[::]", "//[::1]");
}

export function loginCommand(url: string): string {
  return `surveyctl auth login --base-url ${url}${plainHttpFlag(url)}`;
}

export function plainHttpFlag(url: string): string {
  const { protocol, hostname } = new URL(url);
  return protocol === "https:" || isLoopbackHost(hostname) ? "" : " --insecure-http";
}

export function parsePublicUrl(text: string, place: string): string {
  const url = URL.canParse(text) ? new URL(text) : null;
  const isPlain = url !== null && url.search === "" && url.hash === "" && url.username === "";
  if (!isPlain || !["http:", "https:"].includes(url.protocol))
    throw badValue(place, text, "a URL such as https://survey.example.com");
  return url.href.replace(/\/+$/, "");
}

export async function readTls({ tlsCert, tlsKey }: TlsFiles): Promise<{ cert: string; key: string } | null> {
  if (tlsCert === null || tlsKey === null) return null;
  const { createSecureContext } = await import("node:tls");
  const pair = { cert: await readFlagFile("--tls-cert", tlsCert), key: await readFlagFile("--tls-key", tlsKey) };
  try {
    createSecureContext(pair);
  } catch (error) {
    const reason = error instanceof Error ? error.message : "unknown";
    throw new UsageError(
      `--tls-cert, --tls-key: ${tlsCert} and ${tlsKey} are not a certificate and its key in PEM: ${reason}`,
      { cause: error },
    );
  }
  return pair;
}
