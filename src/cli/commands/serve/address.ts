/** Where `serve` may be reached, and whether that is safe. */
import { readFile } from "node:fs/promises";
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

/** Keys and people's data do not go over a network in the clear unless a flag allows it. Throws UsageError. */
export function checkExposure({ host, publicUrl, insecureHttp, tlsCert, tlsKey }: Exposure): void {
  if ((tlsCert === null) !== (tlsKey === null)) {
    throw new UsageError(tlsCert === null ? "--tls-key requires --tls-cert" : "--tls-cert requires --tls-key");
  }
  const isSafe = isLoopback(host) || tlsCert !== null || publicUrl?.startsWith("https://") === true || insecureHttp;
  if (isSafe) return;
  throw new UsageError(`--host ${host}: refusing to serve keys and data without TLS beyond this machine`, {
    hint: "use --tls-cert and --tls-key, --public-url https://… behind a proxy, or --insecure-http on a trusted network",
  });
}

/** Literal hosts alone: what a name resolves to is decided by others. */
export function isLoopback(host: string): boolean {
  return host === "localhost" || host === "::1" || /^127(?:\.\d{1,3}){3}$/.test(host);
}

/** An http or https URL, without a slash at the end. Throws UsageError. */
export function parsePublicUrl(text: string, place: string): string {
  const url = URL.canParse(text) ? new URL(text) : null;
  const isPlain = url !== null && url.search === "" && url.hash === "" && url.username === "";
  if (!isPlain || !["http:", "https:"].includes(url.protocol))
    throw badValue(place, text, "a URL such as https://survey.example.com");
  return url.href.replace(/\/+$/, "");
}

/** Null without TLS. Throws UsageError when a file cannot be read, or the two do not fit. */
export async function readTls({ tlsCert, tlsKey }: TlsFiles): Promise<{ cert: string; key: string } | null> {
  if (tlsCert === null || tlsKey === null) return null;
  const { createSecureContext } = await import("node:tls");
  const pair = { cert: await readPem("--tls-cert", tlsCert), key: await readPem("--tls-key", tlsKey) };
  try {
    createSecureContext(pair);
  } catch (error) {
    const reason = error instanceof Error ? error.message : "unknown";
    throw new UsageError(
      `--tls-cert, --tls-key: ${tlsCert} and ${tlsKey} are not a certificate and its key in PEM: ${reason}`,
      {
        cause: error,
      },
    );
  }
  return pair;
}

async function readPem(flag: string, file: string): Promise<string> {
  try {
    return await readFile(file, "utf8");
  } catch (error) {
    throw new UsageError(`${flag}: ${file} cannot be read: ${error instanceof Error ? error.message : "unknown"}`, {
      cause: error,
    });
  }
}
