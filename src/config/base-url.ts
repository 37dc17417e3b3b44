import { isThisMachine } from "../runtime/name-resolver.ts";
import { pastedMark } from "./pasted.ts";
import { ConfigError, type ConfigAdvice } from "./config-error.ts";

/**
 * Normalizes the server's address by removing the query, a trailing slash and `/v1`. Without a scheme, uses http for
 * loopback and https otherwise. Throws ConfigError unless the result is https, loopback http, or http with `allowHttp`.
 */
export function parseBaseUrl(text: string, source: string, { allowHttp }: { readonly allowHttp: boolean }): string {
  const mark = pastedMark(text.trim());
  if (mark !== null) throw invalid(`${source}: the address ${mark}`);
  const url = readUrl(text);
  if (url === null)
    throw invalid(
      `${source}: ${JSON.stringify(withoutCredentials(text))} is not an address such as https://surveys.example.com`,
    );
  if (url.username !== "" || url.password !== "")
    throw invalid(`${source}: an address holds no credentials; the key goes into a profile or SURVEYCTL_API_KEY`);
  if (url.protocol === "http:" && !allowHttp && !isThisMachine(url.hostname)) {
    throw invalid(`${source}: refusing to send the API key over plain http to ${url.host}; use https://`, {
      code: "allow_http",
    });
  }
  return `${url.origin}${url.pathname.replace(/\/+$/, "").replace(/\/v1$/, "")}`;
}

function readUrl(text: string): URL | null {
  const trimmed = text.trim();
  const whole = /^[a-z][a-z0-9+.-]*:\/\//i.test(trimmed) ? trimmed : withScheme(trimmed);
  if (!/^https?:\/\//i.test(whole) || !URL.canParse(whole)) return null;
  return new URL(whole);
}

const HOST = /^(?:\[[^\]]*\]|[^\s/?#@:"'`<>\u200b-\u200f\ufeff]+)(?::\d+)?(?:[/?#]|$)/;

function withScheme(text: string): string {
  const https = `https://${text}`;
  if (!HOST.test(text) || !URL.canParse(https)) return "";
  return isThisMachine(new URL(https).hostname) ? `http://${text}` : https;
}

function withoutCredentials(text: string): string {
  return text.replace(/^([^/]*\/\/)?.*@/s, "$1…@");
}

function invalid(message: string, advice?: ConfigAdvice): ConfigError {
  return new ConfigError("invalid", message, advice);
}
