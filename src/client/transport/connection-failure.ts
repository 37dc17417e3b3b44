import type { CallName, ClientError } from "../errors/client-error.ts";
import { ConnectionError, type Sent, TimeoutError } from "../errors/call-errors.ts";
import { isThisMachine } from "../../runtime/name-resolver.ts";
import { ProxyError } from "./proxy.ts";

export class TrickleError extends Error {
  override readonly name = "TrickleError";
}

export interface FailureContext {
  readonly call: CallName;
  readonly host: string;
  readonly proxy: string | null;
  readonly sent: Sent;
  readonly timeoutMs: number;
  /** True if a refused loopback connection isn't worth a retry, because the server isn't running. */
  readonly mayBeAbsent: boolean;
}

export function connectionFailure(error: Error, context: FailureContext): ClientError {
  const { call, sent } = context;
  const code = codeOf(error);
  const via = context.proxy === null ? "" : ` through the proxy ${context.proxy}`;
  const facts = { call, sent, cause: error };
  if (error instanceof TrickleError)
    return new TimeoutError(`the answer from ${context.host}${via} came too slowly`, facts);
  if (error instanceof ProxyError)
    return new ConnectionError(error.message, { ...facts, repeatsMax: error.passing ? Infinity : 0 });
  if (Object.hasOwn(CERTIFICATE_PROBLEMS, code) || code.startsWith("CERT_")) {
    const why = `${CERTIFICATE_PROBLEMS[code] ?? error.message}, ${code}`;
    const hint = OF_NO_AUTHORITY.has(code) ? null : "NODE_EXTRA_CA_CERTS names a file with further authorities";
    const what = `the certificate of ${context.host} cannot be trusted (${why})${via}`;
    return new ConnectionError(what, { ...facts, repeatsMax: 0, hint });
  }
  if (code === "UND_ERR_CONNECT_TIMEOUT" || code === "ETIMEDOUT") {
    return new TimeoutError(`no connection to ${context.host}${via} in time`, facts);
  }
  if (code === "UND_ERR_HEADERS_TIMEOUT" || code === "UND_ERR_BODY_TIMEOUT") {
    return new TimeoutError(`no answer from ${context.host}${via} within ${context.timeoutMs / 1000} s`, facts);
  }
  const unasked = UNASKED.get(error.message);
  if (code === "UND_ERR_SOCKET" && unasked !== undefined)
    return new ConnectionError(`${context.host}${via} ${unasked}, which was not asked for`, {
      ...facts,
      repeatsMax: 0,
    });
  if (isTlsProblem(code) && sent === "no") return handshakeFailure(error, code, context, via);
  const isAbsent = code === "ECONNREFUSED" && context.mayBeAbsent && isThisMachine(new URL(call.url).hostname);
  const repeatsMax = isAbsent ? 0 : code === "ENOTFOUND" || code === "EAI_AGAIN" ? 1 : Infinity;
  return new ConnectionError(`${sentence(code, error, context.host, sent)}${via}`, { ...facts, repeatsMax });
}

/** Responses that undici rejects, by its error message. */
const UNASKED: ReadonlyMap<string, string> = new Map([
  ["bad response", "answered 100 (Continue)"],
  ["bad upgrade", "switched to another protocol (101)"],
]);

/** TLS errors caused by a server that replies in plain HTTP. */
const PLAIN = new Set(["ERR_SSL_WRONG_VERSION_NUMBER", "ERR_SSL_PACKET_LENGTH_TOO_LONG", "ERR_SSL_HTTP_REQUEST"]);

function handshakeFailure(error: Error, code: string, { call, host, sent }: FailureContext, via: string): ClientError {
  const isPlain = PLAIN.has(code);
  const why = isPlain ? "; is it plain http?" : ` (${reasonOf(error)})`;
  const hint = isPlain ? `try http://${host}` : null;
  return new ConnectionError(`TLS handshake with ${host}${via} failed${why}`, {
    call,
    sent,
    cause: error,
    repeatsMax: 0,
    hint,
  });
}

function isTlsProblem(code: string): boolean {
  return code.startsWith("ERR_SSL_") || code === "EPROTO";
}

function sentence(code: string, error: Error, host: string, sent: Sent): string {
  if (code === "ENOTFOUND") return `cannot resolve host ${host}`;
  if (code === "EAI_AGAIN") return `cannot resolve host ${host} at the moment`;
  if (code === "ECONNREFUSED") return `${host} refused the connection`;
  if (code === "EHOSTUNREACH" || code === "ENETUNREACH") return `${host} cannot be reached`;
  if (error.name === "HTTPParserError") return `${host} answered something that is not HTTP (${error.message})`;
  if (isTlsProblem(code)) return `the TLS connection to ${host} broke (${reasonOf(error)})`;
  if (code === "UND_ERR_HEADERS_OVERFLOW") return `${host} answered with larger headers than can be taken`;
  const when = sent === "no" ? "before the request was sent" : "before the answer was complete";
  return `the connection to ${host} broke ${when} (${code === "UND_ERR_SOCKET" || code === "" ? error.message : code})`;
}

/** Connecting to a name with several addresses throws an AggregateError. */
function codeOf(error: Error): string {
  const inner = error instanceof AggregateError ? ((error.errors as Error[])[0] ?? error) : error;
  const { code } = inner as NodeJS.ErrnoException;
  return typeof code === "string" ? code : "";
}

const CERTIFICATE_PROBLEMS: Readonly<Record<string, string>> = {
  DEPTH_ZERO_SELF_SIGNED_CERT: "it is self-signed",
  SELF_SIGNED_CERT_IN_CHAIN: "its chain ends in an unknown authority",
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: "its authority is unknown",
  UNABLE_TO_GET_ISSUER_CERT: "its authority is unknown",
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: "its authority is unknown",
  CERT_HAS_EXPIRED: "it has expired",
  CERT_NOT_YET_VALID: "it is not valid yet",
  CERT_REVOKED: "it was revoked",
  CERT_UNTRUSTED: "it is not trusted",
  ERR_TLS_CERT_ALTNAME_INVALID: "it is for another host",
  HOSTNAME_MISMATCH: "it is for another host",
};

/** Certificate problems that trusting another authority wouldn't solve. */
const OF_NO_AUTHORITY = new Set([
  "CERT_HAS_EXPIRED",
  "CERT_NOT_YET_VALID",
  "CERT_REVOKED",
  "ERR_TLS_CERT_ALTNAME_INVALID",
  "HOSTNAME_MISMATCH",
]);

function reasonOf(error: Error): string {
  const { reason } = error as { reason?: unknown };
  return typeof reason === "string" ? reason : codeOf(error);
}
