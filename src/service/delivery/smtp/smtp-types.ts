import type { CarrierReply, CarrierResult } from "../carrier.ts";

/**
 * The stage of the dialogue. `connect` includes the DNS lookup and the greeting, `starttls` is the TLS handshake in
 * both modes, `data` is DATA and the message without its end, `final-dot` is that end.
 */
export type SmtpStage = "connect" | "ehlo" | "starttls" | "auth" | "mail-from" | "rcpt-to" | "data" | "final-dot";

export interface SmtpReply extends CarrierReply {
  readonly stage: SmtpStage;
  /** Reply code such as 550; null without a reply. */
  readonly code: number | null;
  /** Enhanced code (RFC 3463) directly after it, such as `5.1.1`. */
  readonly enhancedCode: string | null;
  /** At most 500 characters on one line, without codes and credentials. */
  readonly text: string;
  readonly host: string;
  /** The server's name for an accepted message, if its reply contains one. */
  readonly serverId: string | null;
  /** Milliseconds from getting a connection to this reply, including connecting. */
  readonly ms: number;
}

/**
 * `unsendable`: an address that needs SMTPUTF8 (RFC 6531) or contains a line break, or a message above the announced
 * SIZE.
 */
export type SmtpResult = CarrierResult<SmtpReply>;

export interface SmtpMessage {
  readonly from: string;
  readonly to: string;
  /** RFC 5322. Dots are stuffed, and line breaks become CRLF. */
  readonly bytes: Uint8Array;
  readonly needsSmtpUtf8: boolean;
}

const TEXT_MAX = 500;
/** Postfix, Exim and Amazon, in this order. */
const SERVER_IDS = [/\bqueued as ([\w.-]+)/i, /\bid=([\w.-]+)/i, /^Ok ([\da-f]+(?:-[\da-f]+)+)$/i];

/** Printable text on one line, cut to the stored length. */
export function asOneLine(text: string): string {
  return text
    .replaceAll(/[\s\p{Cc}]+/gu, " ")
    .trim()
    .slice(0, TEXT_MAX);
}

/** The name in "queued as NAME" and the like. */
export function serverIdIn(text: string): string | null {
  for (const form of SERVER_IDS) {
    const found = form.exec(text)?.[1];
    if (found !== undefined) return found;
  }
  return null;
}
