/** Verifies DKIM signatures (RFC 6376) without the library that creates them. */
import { createHash, createPublicKey, type KeyObject, verify } from "node:crypto";

const CRLF = "\r\n";

/**
 * Returns the fault of the first signature, given the DNS record, or null if it is valid. Only supports RSA with
 * SHA-256, relaxed canonicalization and no length limit.
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

interface Field {
  readonly name: string;
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

/** The signed headers, last occurrence first, then the signature's own header without its value (RFC 6376, 3.7). */
function signedBytes(fields: readonly Field[], names: readonly string[], unsigned: string): Buffer {
  const left = [...fields];
  const chosen = names.flatMap((name) => {
    const at = left.findLastIndex((field) => field.name === name);
    return at === -1 ? [] : left.splice(at, 1).map(({ text }) => relaxHeader(text) + CRLF);
  });
  return Buffer.from(chosen.join("") + relaxHeader(unsigned), "utf8");
}

function relaxHeader(text: string): string {
  const at = text.indexOf(":");
  const value = text.slice(at + 1).replaceAll(CRLF, "");
  return `${text.slice(0, at).trim().toLowerCase()}:${value.replaceAll(/[ \t]+/g, " ").trim()}`;
}

/** Relaxed body canonicalization, RFC 6376, 3.4.4. */
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
