import { createPrivateKey, createPublicKey, type KeyObject, sign, verify } from "node:crypto";
import { text } from "node:stream/consumers";
import { domainToASCII } from "node:url";

export interface DkimKey {
  readonly domain: string;
  readonly selector: string;
  readonly privateKey: KeyObject;
}

export class DkimKeyError extends Error {
  override readonly name = "DkimKeyError";
}

/** Large receivers ignore signatures with shorter keys. */
const BITS_MIN = 2048;
/** One-click unsubscribe requires that both of its headers are signed (RFC 8058, 4). */
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

/** Throws DkimKeyError for an unusable key, and for names that are invalid in DNS. */
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
    // Both formats of encrypted keys contain this word in their first lines.
    const isEncrypted = /^-----BEGIN [^\n]*\n?[^\n]*ENCRYPTED/m.test(String(pem));
    throw new DkimKeyError(
      isEncrypted
        ? "the DKIM key is encrypted; save it without a passphrase"
        : "the DKIM key is not a private key in PEM format",
      { cause: error },
    );
  }
}

export function dkimRecord({ privateKey }: DkimKey): string {
  const der = createPublicKey(privateKey).export({ type: "spki", format: "der" });
  return `v=DKIM1; k=rsa; p=${der.toString("base64")}`;
}

/** Prepends a signature. Lines must end with CRLF. Rejects with DkimKeyError rather than send it unsigned. */
export async function signMail(message: string, { domain, selector, privateKey }: DkimKey): Promise<string> {
  const { default: DKIM } = await import("nodemailer/lib/dkim");
  const headerFieldNames = SIGNED_HEADERS.join(":");
  const dkim = new DKIM({ domainName: domain, keySelector: selector, privateKey, headerFieldNames });
  const signed = await text(dkim.sign(message));
  if (!signed.startsWith("DKIM-Signature:")) throw new DkimKeyError("the DKIM key cannot sign");
  return signed;
}

export function checkDkimKey({ privateKey }: DkimKey): void {
  const sample = Buffer.from("a message");
  const signature = sign("sha256", sample, privateKey);
  if (!verify("sha256", sample, createPublicKey(privateKey), signature))
    throw new DkimKeyError("a message signed with the DKIM key does not verify");
}
