import { ConfigError } from "./config-error.ts";

const LOOPBACK = /^(?:(?:.+\.)?localhost|127(?:\.\d{1,3}){3}|\[::1\])$/;

/**
 * The service's address without query, trailing slash and `/v1`. Throws ConfigError for anything that is not
 * https, or plain http to this machine, or http anywhere when `allowHttp`. `source` names where the text came from.
 */
export function parseBaseUrl(text: string, source: string, allowHttp: boolean): string {
  const url = readUrl(text);
  if (url === null)
    throw invalid(
      `${source}: ${JSON.stringify(withoutCredentials(text))} is not an address such as https://surveys.example.com`,
    );
  if (url.username !== "" || url.password !== "")
    throw invalid(`${source}: an address holds no credentials; the key goes into a profile or SURVEYCTL_API_KEY`);
  if (url.protocol === "http:" && !allowHttp && !LOOPBACK.test(url.hostname)) {
    throw invalid(
      `${source}: http:// would send the key to ${url.host} readable by others; use https://`,
      "--insecure-http allows it where the network is trusted",
    );
  }
  return `${url.origin}${url.pathname.replace(/\/+$/, "").replace(/\/v1$/, "")}`;
}

function readUrl(text: string): URL | null {
  const trimmed = text.trim();
  if (!/^https?:\/\//i.test(trimmed) || !URL.canParse(trimmed)) return null;
  return new URL(trimmed);
}

function withoutCredentials(text: string): string {
  return text.replace(/^([^/]*\/\/)?.*@/s, "$1…@");
}

function invalid(message: string, hint?: string): ConfigError {
  return new ConfigError("invalid", message, hint === undefined ? {} : { hint });
}
