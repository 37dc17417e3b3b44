import { certificateFault } from "../../../runtime/http-exchange.ts";
import type { SmtpStage } from "./smtp-types.ts";

export interface DialogueError extends Error {
  readonly code?: string;
  readonly originalCode?: string;
  readonly command?: string;
  readonly response?: string;
}

/** Matches a client's line, or nodemailer's name for a command. */
const COMMANDS: readonly (readonly [RegExp, SmtpStage])[] = [
  [/^(?:EHLO|HELO)(?: |$)/, "ehlo"],
  [/^STARTTLS$/, "starttls"],
  [/^(?:MAIL FROM(?::|$)|RSET$)/, "mail-from"],
  [/^RCPT TO(?::|$)/, "rcpt-to"],
  [/^(?:DATA|\.)$/, "data"],
  [/^AUTH/, "auth"],
];
export const WAITS: Readonly<Record<SmtpStage, string>> = {
  connect: "the connection",
  ehlo: "the reply to EHLO",
  starttls: "the TLS handshake",
  auth: "the reply to AUTH",
  "mail-from": "the reply to MAIL FROM",
  "rcpt-to": "the reply to RCPT TO",
  data: "the reply to DATA",
  "final-dot": "the reply to the message",
};
export const CLOSED = "the server closed the connection";
const PLAIN_WORDS: Readonly<Record<string, string>> = {
  ECONNREFUSED: "the server refused the connection",
  ECONNRESET: "the server reset the connection",
  ENOTFOUND: "cannot resolve the host",
  EAI_AGAIN: "cannot resolve the host for now",
  ETIMEDOUT: "timed out waiting for the connection",
  EHOSTUNREACH: "the host is unreachable",
  ENETUNREACH: "the network is unreachable",
  EPIPE: CLOSED,
  ECONNECTION: CLOSED,
};

/** Null for lines that aren't commands, such as those of a login, and if the connection failed before any command. */
export function commandStage(command = ""): SmtpStage | null {
  return COMMANDS.find(([form]) => form.test(command))?.[1] ?? null;
}

export function describeFailure(error: DialogueError): string {
  const code = error.originalCode ?? error.code ?? "";
  const fault = certificateFault(code, error.message);
  if (fault !== null) return `certificate not accepted: ${fault} (${code})`;
  return PLAIN_WORDS[code] ?? (error.message === "" ? code : error.message);
}

export function timeoutError(ms: number, what: string): Error {
  return new Error(`timed out after ${ms / 1000} s waiting for ${what}`);
}

const ignore = (): void => undefined;

/** Passes on only the dialogue between client and server, not nodemailer's own messages. */
export function createDialogueLogger(hear: (side: "client" | "server", text: string) => void) {
  const debug = ({ tnx }: { tnx?: string }, text: string): void => {
    if (tnx === "client" || tnx === "server") hear(tnx, text);
  };
  return { trace: ignore, debug, info: ignore, warn: ignore, error: ignore, fatal: ignore };
}
