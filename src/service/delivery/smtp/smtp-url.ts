/** `smtp://user:password@host:587?tls=off&ca=FILE` and `smtps://…` */
import { isIPv6 } from "node:net";
import { domainToASCII } from "node:url";
import { readGivenFile } from "../../../runtime/pipe-reader.ts";
import { isLoopbackHost } from "../../../runtime/name-resolver.ts";

/** `implicit` is TLS from the first byte (RFC 8314), `required` and `if-offered` are STARTTLS. */
type SmtpSecurity = "implicit" | "required" | "if-offered" | "off";

export interface SmtpServer {
  readonly host: string;
  readonly port: number;
  readonly security: SmtpSecurity;
  readonly credentials: { readonly user: string; readonly password: string } | null;
  readonly caFile: string | null;
}

/** The message is a sentence without any part of the URL that might belong to the password. */
export class InvalidSmtpUrlError extends Error {
  override readonly name = "InvalidSmtpUrlError";
}

const SUBMISSION_PORT = 587;
const SUBMISSIONS_PORT = 465;
const RELAY_PORT = 25;
const MASK = "***";
const MASKED_LENGTH_MIN = 4;

/** Credentials require TLS, because an attacker who strips STARTTLS would see them. Throws InvalidSmtpUrlError. */
export function parseSmtpUrl(text: string): SmtpServer {
  const url = parseUrl(text.trim());
  const isImplicit = url.protocol === "smtps:";
  const credentials = readCredentials(url);
  const { isOff, caFile } = readQuery(url);
  if (isImplicit && isOff) refuse("cannot have both smtps:// and tls=off; use smtp:// without TLS");
  if (isOff && caFile !== null) refuse("cannot have both tls=off and ca=FILE");
  const host = readHost(url);
  const defaultPort = isImplicit ? SUBMISSIONS_PORT : credentials === null ? RELAY_PORT : SUBMISSION_PORT;
  return {
    host,
    port: readPort(url) ?? defaultPort,
    security: chooseSecurity({ isImplicit, isOff, needsSecrecy: credentials !== null && !isLoopbackHost(host) }),
    credentials,
    caFile,
  };
}

export function describeSmtpServer(server: SmtpServer): string {
  const { host, port, security, credentials } = server;
  const user = credentials === null ? "" : `${encodeURIComponent(credentials.user)}:${MASK}@`;
  const shown = isIPv6(host) ? `[${host}]` : host;
  const query = security === "off" ? "?tls=off" : "";
  return `${security === "implicit" ? "smtps" : "smtp"}://${user}${shown}:${port}${query}`;
}

export function maskCredentials(text: string, { credentials }: SmtpServer): string {
  if (credentials === null) return text;
  const { user, password } = credentials;
  const encoded = [toBase64(`\0${user}\0${password}`), toBase64(password), encodeURIComponent(password)];
  // Masking a password of one or two letters would make the text unreadable.
  const forms = [...encoded, password].filter((form) => form.length >= MASKED_LENGTH_MIN);
  return forms.reduce((masked, form) => masked.replaceAll(form, MASK), text);
}

/** The certificates of the URL's `ca`, or null. Throws InvalidSmtpUrlError for an unusable file. */
export async function readCertificates({ caFile }: SmtpServer): Promise<string | null> {
  if (caFile === null) return null;
  const bytes = await readGivenFile(caFile).catch((error: NodeJS.ErrnoException) =>
    refuse(`names ca=${caFile}, which cannot be read (${error.code ?? error.message})`),
  );
  const text = bytes.toString();
  if (!text.includes("-----BEGIN CERTIFICATE-----"))
    refuse(`names ca=${caFile}, which is not a file of PEM certificates`);
  return text;
}

function parseUrl(text: string): URL {
  if (!/^smtps?:\/\//i.test(text)) refuse("must start with smtp:// or smtps://");
  if (/[\s\p{Cc}]/u.test(text)) refuse("must not contain spaces or control characters; write a space as %20");
  if (!URL.canParse(text))
    refuse("is not a valid URL; write special characters of the password as %XX, such as # as %23");
  const url = new URL(text);
  if (url.hash !== "") refuse("must not contain #; in the password write it as %23");
  if (url.pathname !== "" && url.pathname !== "/")
    refuse("must not contain a path; in the password write / as %2F, and @ as %40");
  return url;
}

function readCredentials(url: URL): SmtpServer["credentials"] {
  if (url.username === "" && url.password === "") return null;
  if (url.password === "") refuse("has a user but no password");
  if (url.username === "") refuse("has a password but no user");
  const credentials = { user: decode(url.username), password: decode(url.password) };
  if (/[\0\r\n]/.test(credentials.user + credentials.password))
    refuse("must not have a line break or a NUL in its user or password");
  return credentials;
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return refuse("has a % in its user or password that two hexadecimal digits do not follow; write % as %25");
  }
}

/** Doesn't quote unknown names: if the password contains a `?`, they would be its second half. */
function readQuery(url: URL): { isOff: boolean; caFile: string | null } {
  const query = [...url.searchParams];
  const names = query.map(([name]) => name);
  if (names.some((name) => name !== "tls" && name !== "ca") || new Set(names).size < names.length)
    refuse("allows only tls=off and ca=FILE after the ?, each once; in the password write ? as %3F");
  const tls = url.searchParams.get("tls");
  if (tls !== null && tls !== "off") refuse("allows only tls=off; leave tls out for the default");
  const caFile = url.searchParams.get("ca");
  if (caFile === "") refuse("has no file name after ca=");
  return { isOff: tls === "off", caFile };
}

function readHost(url: URL): string {
  const bare = url.hostname.replace(/^\[(.*)\]$/, "$1");
  if (isIPv6(bare)) return bare;
  const ascii = domainToASCII(decode(bare));
  if (ascii === "" || !/^[a-z\d_-]+(?:\.[a-z\d_-]+)*\.?$/i.test(ascii)) refuse("has no valid host name");
  return ascii;
}

function readPort(url: URL): number | null {
  if (url.port === "") return null;
  const port = Number(url.port);
  if (port === 0) refuse("must have a port from 1 to 65535");
  return port;
}

function chooseSecurity(wanted: { isImplicit: boolean; isOff: boolean; needsSecrecy: boolean }): SmtpSecurity {
  if (wanted.isImplicit) return "implicit";
  if (wanted.isOff) return "off";
  return wanted.needsSecrecy ? "required" : "if-offered";
}

function toBase64(text: string): string {
  return Buffer.from(text, "utf8").toString("base64");
}

function refuse(sentence: string): never {
  throw new InvalidSmtpUrlError(`the SMTP URL ${sentence}`);
}
