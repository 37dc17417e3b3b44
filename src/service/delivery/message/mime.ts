/** Messages as RFC 5322 and 2045 to 2047 want them: ASCII only, short lines, nothing in a header that ends it early. */
import { domainToASCII } from "node:url";
import { singleLine } from "../../domain/texts/plain-text.ts";

const CRLF = "\r\n";
/** An encoded word has at most 75 characters, 63 of them text, which is 45 bytes in Base64. */
const ENCODED_WORD_BYTES = 45;
const QUOTED_LINE_MAX = 76;

export interface Part {
  /** Such as `text/plain`. */
  readonly type: string;
  readonly text: string;
}

/**
 * A whole message, its lines ended by CRLF: these headers, then the same content in several forms, the plainest first.
 * Throws for a header that would end early: its value has a line break that does not fold it.
 */
export function formatMessage(
  headers: readonly (readonly [string, string])[],
  parts: readonly Part[],
  boundary: string,
): string {
  const head = [
    ...headers.map(formatHeader),
    "MIME-Version: 1.0",
    `Content-Type: multipart/alternative; boundary="${boundary}"`,
  ];
  const body = parts.map((part) => `--${boundary}${CRLF}${formatPart(part)}${CRLF}`);
  return `${head.join(CRLF)}${CRLF}${CRLF}${body.join("")}--${boundary}--${CRLF}`;
}

function formatHeader([name, value]: readonly [string, string]): string {
  if (/[\r\n]/.test(value.replaceAll(`${CRLF} `, ""))) throw new Error(`header ${name} has a line break`);
  return `${name}: ${value}`;
}

function formatPart({ type, text }: Part): string {
  const lines = text.split(/\r\n|\r|\n/);
  const plain = lines.every((line) => /^[\t\x20-\x7e]*$/.test(line) && line.length <= 900);
  const encoding = plain ? "7bit" : "quoted-printable";
  const body = lines.map((line) => (plain ? line : quotedPrintable(line))).join(CRLF);
  return `Content-Type: ${type}; charset=utf-8${CRLF}Content-Transfer-Encoding: ${encoding}${CRLF}${CRLF}${body}`;
}

/** One line of text in quoted-printable, with soft line breaks. */
function quotedPrintable(line: string): string {
  const lines: string[] = [];
  let current = "";
  const bytes = Buffer.from(line, "utf8");
  for (const [index, byte] of bytes.entries()) {
    const blankAtEnd = (byte === 0x20 || byte === 0x09) && index === bytes.length - 1;
    const literal = ((byte >= 0x20 && byte <= 0x7e && byte !== 0x3d) || byte === 0x09) && !blankAtEnd;
    const next = literal ? String.fromCharCode(byte) : `=${byte.toString(16).toUpperCase().padStart(2, "0")}`;
    if (current.length + next.length > QUOTED_LINE_MAX - 1) {
      lines.push(`${current}=`);
      current = "";
    }
    current += next;
  }
  return [...lines, current].join(CRLF);
}

/** Text for a header such as `Subject`: as it is when that is safe, else in encoded words, folded. */
export function headerText(text: string): string {
  const line = singleLine(text);
  if (/^[\x20-\x7e]{0,60}$/.test(line) && !line.includes("=?")) return line;
  return encodedWords(line).join(`${CRLF} `);
}

function encodedWords(text: string): string[] {
  const words: string[] = [];
  let current = "";
  for (const char of text) {
    if (Buffer.byteLength(current + char) > ENCODED_WORD_BYTES) {
      words.push(current);
      current = "";
    }
    current += char;
  }
  return [...words, current].map((word) => `=?UTF-8?B?${Buffer.from(word, "utf8").toString("base64")}?=`);
}

/**
 * An address with the name of whom it belongs to. The address must have the form of one; its domain becomes ASCII. What
 * stands before the `@` stays as it is: see `needsSmtpUtf8`.
 */
export function mailbox(name: string | null, mixedAddress: string): string {
  const address = asciiDomain(singleLine(mixedAddress));
  const shown = headerText(name ?? "");
  if (shown === "") return `<${address}>`;
  const quoted = shown.startsWith("=?") ? shown : `"${shown.replace(/["\\]/g, "\\$&")}"`;
  return `${quoted}${shown.length > 30 ? `${CRLF} ` : " "}<${address}>`;
}

/** Whether only servers that offer SMTPUTF8 (RFC 6531) can take mail for this address. */
export function needsSmtpUtf8(address: string): boolean {
  return !/^\p{ASCII}*$/u.test(asciiDomain(address));
}

/** The address with its domain as mail servers write it. */
export function asciiDomain(address: string): string {
  const at = address.lastIndexOf("@") + 1;
  return address.slice(0, at) + (domainToASCII(address.slice(at)) || address.slice(at));
}
