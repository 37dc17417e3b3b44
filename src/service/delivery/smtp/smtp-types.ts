import type { CarrierReply, CarrierResult } from "../carrier.ts";

/**
 * The stage that the dialogue had reached. `connect` includes the lookup of the name and the greeting, `starttls` is
 * the securing of the connection in both ways of TLS, `data` is DATA and the message without its end, `final-dot` is
 * that end.
 */
export type SmtpStage = "connect" | "ehlo" | "starttls" | "auth" | "mail-from" | "rcpt-to" | "data" | "final-dot";

/** The server's words, or the words of the failure where the server said nothing. */
export interface SmtpReply extends CarrierReply {
  readonly stage: SmtpStage;
  /** The basic reply code, such as 550. Null when the server did not reply. */
  readonly code: number | null;
  /** The enhanced code of RFC 3463 directly after the basic one, such as `5.1.1`. */
  readonly enhancedCode: string | null;
  /** At most 500 characters on one line, without the codes and without the credentials. */
  readonly text: string;
  /** The host that the settings name. */
  readonly host: string;
  /** The server's name for the message that it accepted, when its reply says so. */
  readonly serverId: string | null;
  /** Milliseconds from when the message had a connection's turn to this reply, connecting included. */
  readonly ms: number;
}

/**
 * `unsendable`: an address that needs SMTPUTF8 (RFC 6531), a message larger than the announced SIZE, an address with a
 * line break.
 */
export type SmtpResult = CarrierResult<SmtpReply>;

export interface SmtpMessage {
  /** The sender of the envelope; empty for the null sender. */
  readonly from: string;
  readonly to: string;
  /** The message as RFC 5322 has it. Dots are stuffed and line breaks become CRLF on the way. */
  readonly bytes: Uint8Array;
  readonly needsSmtpUtf8: boolean;
}

const TEXT_MAX = 500;
/** Postfix, Exim and Amazon's servers, in this order. */
const SERVER_IDS = [/\bqueued as ([\w.-]+)/i, /\bid=([\w.-]+)/i, /^Ok ([\da-f]+(?:-[\da-f]+)+)$/i];

/** Printable words on one line, cut to the length that is kept. */
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
