/** The key that signs mail, and its signatures: RFC 6376, RSA with SHA-256, header and body in relaxed form. */
import { createPrivateKey, createPublicKey, type KeyObject, sign, verify } from "node:crypto";
import { text } from "node:stream/consumers";
import { domainToASCII } from "node:url";

export interface DkimKey {
  /** The domain that answers for the mail, `d=`, as ASCII. */
  readonly domain: string;
  /** The name of its public key, `s=`: `<selector>._domainkey.<domain>`. */
  readonly selector: string;
  readonly privateKey: KeyObject;
}

/** The key cannot sign mail; the message is one sentence that says why. */
export class DkimKeyError extends Error {
  override readonly name = "DkimKeyError";
}

/** Shorter keys count as none at large receivers. */
const BITS_MIN = 2048;
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

/** The TXT record that belongs at `<selector>._domainkey.<domain>`. */
export function dkimRecord({ privateKey }: DkimKey): string {
  const der = createPublicKey(privateKey).export({ type: "spki", format: "der" });
  return `v=DKIM1; k=rsa; p=${der.toString("base64")}`;
}

/**
 * The message with a signature as its first header. Lines of the message end with CRLF. The same message and key give
 * the same bytes. Rejects with DkimKeyError instead of leaving the signature out.
 */
export async function signMail(message: string, { domain, selector, privateKey }: DkimKey): Promise<string> {
  const { default: DKIM } = await import("nodemailer/lib/dkim");
  const headerFieldNames = SIGNED_HEADERS.join(":");
  const dkim = new DKIM({ domainName: domain, keySelector: selector, privateKey, headerFieldNames });
  const signed = await text(dkim.sign(message));
  if (!signed.startsWith("DKIM-Signature:")) throw new DkimKeyError("the DKIM key cannot sign");
  return signed;
}

/** Throws DkimKeyError for a key whose signatures do not verify: such a key must not send a single mail. */
export function checkDkimKey({ privateKey }: DkimKey): void {
  const sample = Buffer.from("a message");
  const signature = sign("sha256", sample, privateKey);
  if (!verify("sha256", sample, createPublicKey(privateKey), signature))
    throw new DkimKeyError("a message signed with the DKIM key does not verify");
}
