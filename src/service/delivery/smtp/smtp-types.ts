import type { CarrierReply, CarrierResult } from "../carrier.ts";

/** `connect` includes the DNS lookup and the greeting; `data` is DATA and the message without its final dot. */
export const SMTP_STAGES = [
  "connect",
  "ehlo",
  "starttls",
  "auth",
  "mail-from",
  "rcpt-to",
  "data",
  "final-dot",
] as const;
export type SmtpStage = (typeof SMTP_STAGES)[number];

/** `text` contains no codes or credentials. `ms` starts when a connection is assigned, and includes connecting. */
export interface SmtpReply extends CarrierReply {
  readonly stage: SmtpStage;
}

/** `unsendable`: the address needs SMTPUTF8 (RFC 6531) or has a line break, or the message exceeds SIZE. */
export type SmtpResult = CarrierResult<SmtpReply>;

export interface SmtpMessage {
  readonly from: string;
  readonly to: string;
  /** The message (RFC 5322). We stuff dots and convert line breaks to CRLF. */
  readonly bytes: Uint8Array;
  readonly needsSmtpUtf8: boolean;
}

const TEXT_MAX = 500;
/** Postfix, Exim and Amazon, in this order. */
const SERVER_IDS = [/\bqueued as ([\w.-]+)/i, /\bid=([\w.-]+)/i, /^Ok ([\da-f]+(?:-[\da-f]+)+)$/i];

export function asOneLine(text: string): string {
  return text
    .replaceAll(/[\s\p{Cc}]+/gu, " ")
    .trim()
    .slice(0, TEXT_MAX);
}

export function serverIdIn(text: string): string | null {
  return SERVER_IDS.map((form) => form.exec(text)?.[1]).find((id) => id !== undefined) ?? null;
}
