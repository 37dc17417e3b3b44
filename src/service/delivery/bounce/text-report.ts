import type { RecipientStatus } from "./report-fields.ts";

/** Bytes to read: the report comes before the returned message. */
const READ_MAX = 64 * 1024;
const QMAIL = { begins: /^\s*Hi\. This is the qmail-send program/, recipient: /^<([^<>\s]+@[^<>\s]+)>:\s*$/ };
const EXIM = { begins: /\bfollowing address\(es\) failed:/, recipient: /^ {2}([^\s<>()|]+@[^\s<>():]+):?\s*$/ };

export function readTextReport(raw: Uint8Array): readonly RecipientStatus[] {
  const text = new TextDecoder().decode(raw.subarray(0, READ_MAX)).replaceAll(/\r\n?/g, "\n").trimStart();
  const [header = "", ...paragraphs] = text.split("\n\n");
  const body = paragraphs.join("\n\n");
  const { begins, recipient } = /^X-Failed-Recipients:/im.test(header) ? EXIM : QMAIL;
  const found: { readonly address: string; readonly words: string[] }[] = [];
  let isOpen = false;
  for (const line of begins.test(body) ? body.replace(begins, "").split("\n") : []) {
    if (line.startsWith("---")) break;
    const address = recipient.exec(line)?.[1];
    if (address !== undefined) found.push({ address, words: [] });
    else if (isOpen) found.at(-1)?.words.push(line.trim());
    isOpen = address !== undefined || (isOpen && line.trim() !== "");
  }
  return found.map(({ address, words }) => toStatus(address, words.join(" ").trim()));
}

function toStatus(address: string, words: string): RecipientStatus {
  return {
    action: "failed",
    status: /#([245]\.\d{1,3}\.\d{1,3})\b/.exec(words)?.[1] ?? null,
    diagnosticCode: words === "" ? null : words,
    finalRecipient: address,
    originalRecipient: /\bgenerated (?:from|by) ([^\s()]+@[^\s()]+)/.exec(words)?.[1] ?? null,
  };
}
