/** Signatures of mail, RFC 6376: RSA with SHA-256, header and body in relaxed form. Signs, and verifies by itself. */
import { createHash, createPrivateKey, createPublicKey, type KeyObject, sign, verify } from "node:crypto";
import { domainToASCII } from "node:url";

export interface DkimKey {
  /** The domain that answers for the mail, `d=`, as ASCII. */
  readonly domain: string;
  /** Where its public key is, `s=`: `<selector>._domainkey.<domain>`. */
  readonly selector: string;
  readonly privateKey: KeyObject;
}

/** The key cannot sign mail; the message is one sentence that says why. */
export class DkimKeyError extends Error {
  override readonly name = "DkimKeyError";
}

/** Shorter keys count as none at large receivers. */
const BITS_MIN = 2048;
const CRLF = "\r\n";
/** One-click unsubscribing counts only when both of its headers are signed (RFC 8058, 4). */
const SIGNED_HEADERS: readonly string[] = [
  "from",
  "to",
  "subject",
  "date",
  "message-id",
  "reply-to",
  "mime-version",
  "content-type",
  "content-language",
  "list-id",
  "list-unsubscribe",
  "list-unsubscribe-post",
  "feedback-id",
];
const HOST_NAME = /^(?=.{1,253}$)(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)*[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/i;

/** Reads a private key in PEM. Throws DkimKeyError for a key that cannot sign, and for names that DNS cannot have. */
export function readDkimKey(
  pem: string | Buffer,
  { domain, selector }: { readonly domain: string; readonly selector: string },
): DkimKey {
  const host = domainToASCII(domain);
  if (!HOST_NAME.test(host)) throw new DkimKeyError(`the DKIM domain ${JSON.stringify(domain)} is not a domain name`);
  if (!HOST_NAME.test(selector))
    throw new DkimKeyError(`the DKIM selector ${JSON.stringify(selector)} is not a part of a domain name`);
  const privateKey = readPrivateKey(pem);
  if (privateKey.asymmetricKeyType !== "rsa")
    throw new DkimKeyError(`the DKIM key is of type ${privateKey.asymmetricKeyType}; use an RSA key`);
  const bits = privateKey.asymmetricKeyDetails?.modulusLength ?? 0;
  if (bits < BITS_MIN)
    throw new DkimKeyError(`the DKIM key has ${bits} bits; use an RSA key of ${BITS_MIN} bits or more`);
  return { domain: host, selector, privateKey };
}

function readPrivateKey(pem: string | Buffer): KeyObject {
  try {
    return createPrivateKey(pem);
  } catch (error) {
    // Both forms of an encrypted key have this word in their first lines.
    const isEncrypted = /^-----BEGIN [^\n]*\n?[^\n]*ENCRYPTED/m.test(String(pem));
    throw new DkimKeyError(
      isEncrypted
        ? "the DKIM key is encrypted; save it without a passphrase"
        : "the DKIM key is not a private key in PEM format",
      { cause: error },
    );
  }
}

/** What the TXT record at `<selector>._domainkey.<domain>` must hold. */
export function dkimRecord({ privateKey }: DkimKey): string {
  const der = createPublicKey(privateKey).export({ type: "spki", format: "der" });
  return `v=DKIM1; k=rsa; p=${der.toString("base64")}`;
}

/** The message with a signature as its first header. Lines of the message end with CRLF. */
export function signMail(message: string, { domain, selector, privateKey }: DkimKey): string {
  const { fields, body } = splitMessage(message);
  const names = SIGNED_HEADERS.filter((name) => fields.some((field) => field.name === name));
  const unsigned = [
    `DKIM-Signature: v=1; a=rsa-sha256; c=relaxed/relaxed; d=${domain};`,
    ` s=${selector};`,
    ` h=${names.join(`:${CRLF}  `)};`,
    ` bh=${bodyHash(body)};`,
    " b=",
  ].join(CRLF);
  const signature = sign("sha256", signedBytes(fields, names, unsigned), privateKey).toString("base64");
  return `${unsigned}${(signature.match(/.{1,72}/g) ?? []).join(`${CRLF}  `)}${CRLF}${message}`;
}

/**
 * What is wrong with the first signature of a message, as a reader who looked up `record` finds it; null when it holds.
 * Knows what `signMail` and most others write: RSA with SHA-256, header and body in relaxed form, no length limit.
 */
export function dkimProblem(message: string, record: string): string | null {
  const { fields, body } = splitMessage(message);
  const field = fields.find(({ name }) => name === "dkim-signature");
  if (field === undefined) return "there is no signature";
  const tags = readTags(field.text.slice(field.text.indexOf(":") + 1));
  const tag = (name: string): string => (tags.get(name) ?? "").replaceAll(/\s/g, "");
  if (tag("v") !== "1" || tag("a") !== "rsa-sha256" || tag("c") !== "relaxed/relaxed" || tags.has("l"))
    return "the signature is of a kind that is not known";
  if (bodyHash(body) !== tag("bh")) return "the body is not the one that was signed";
  const names = tag("h").toLowerCase().split(":");
  if (!names.includes("from")) return "the signature does not cover From";
  const publicKey = readRecord(record);
  if (publicKey === null) return "the record has no public key";
  const unsigned = field.text.replace(/([;:]\s*b\s*=)[^;]*/, "$1");
  const others = fields.filter((other) => other !== field);
  const holds = verify("sha256", signedBytes(others, names, unsigned), publicKey, Buffer.from(tag("b"), "base64"));
  return holds ? null : "the headers are not those that were signed";
}

/** Signs a message like those to come and verifies it. Throws DkimKeyError: such a key must not send a single mail. */
export function checkDkimKey(key: DkimKey): void {
  const sample = [
    `From: "Sample" <sample@${key.domain}>`,
    "To: <someone@example.com>",
    "Subject: =?UTF-8?B?w7ZmZmVudGxpY2g=?=",
    " folded",
    "List-Unsubscribe: <https://example.com/u/sample>",
    "List-Unsubscribe-Post: List-Unsubscribe=One-Click",
    "",
    "One  line \t",
    "",
    "",
  ].join(CRLF);
  const problem = dkimProblem(signMail(sample, key), dkimRecord(key));
  if (problem !== null) throw new DkimKeyError(`a message signed with the DKIM key does not verify: ${problem}`);
}

interface Field {
  /** In lower case. */
  readonly name: string;
  /** All of it, with its line breaks, without the last. */
  readonly text: string;
}

function splitMessage(message: string): { readonly fields: readonly Field[]; readonly body: string } {
  const end = message.indexOf(CRLF + CRLF);
  const head = end === -1 ? message : message.slice(0, end);
  const fields = head
    .split(/\r\n(?![ \t])/)
    .map((text) => ({ name: text.split(":")[0]?.trim().toLowerCase() ?? "", text }));
  return { fields, body: end === -1 ? "" : message.slice(end + 2 * CRLF.length) };
}

/** The named headers, the last of a name first, then the signature's own without its value (RFC 6376, 3.7). */
function signedBytes(fields: readonly Field[], names: readonly string[], unsigned: string): Buffer {
  const left = [...fields];
  const chosen = names.flatMap((name) => {
    const at = left.findLastIndex((field) => field.name === name);
    return at === -1 ? [] : left.splice(at, 1).map(({ text }) => relaxHeader(text) + CRLF);
  });
  return Buffer.from(chosen.join("") + relaxHeader(unsigned), "utf8");
}

/** RFC 6376, 3.4.2. */
function relaxHeader(text: string): string {
  const at = text.indexOf(":");
  const value = text.slice(at + 1).replaceAll(CRLF, "");
  return `${text.slice(0, at).trim().toLowerCase()}:${value.replaceAll(/[ \t]+/g, " ").trim()}`;
}

/** RFC 6376, 3.4.4: blanks as one, none at the ends of lines, no empty lines at the end. */
function bodyHash(body: string): string {
  const lines = body.split(CRLF).map((line) => line.replaceAll(/[ \t]+/g, " ").replace(/ $/, ""));
  while (lines.at(-1) === "") lines.pop();
  const relaxed = lines.join(CRLF);
  return createHash("sha256")
    .update(relaxed === "" ? "" : relaxed + CRLF, "utf8")
    .digest("base64");
}

function readTags(text: string): ReadonlyMap<string, string> {
  const pairs = text.split(";").map((pair) => {
    const at = pair.indexOf("=");
    return [pair.slice(0, at).trim(), pair.slice(at + 1)] as const;
  });
  return new Map(pairs.filter(([name]) => name !== ""));
}

function readRecord(record: string): KeyObject | null {
  const key = (readTags(record).get("p") ?? "").replaceAll(/\s/g, "");
  try {
    return createPublicKey({ key: Buffer.from(key, "base64"), format: "der", type: "spki" });
  } catch {
    return null;
  }
}
