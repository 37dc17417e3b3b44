/** A mail outside the queue, sent once whatever the reply. */
import { type DkimKey, signMail } from "../mail/dkim.ts";
import { needsSmtpUtf8 } from "../message/mime.ts";
import type { Clock } from "../../../runtime/clock.ts";
import { onAbort } from "../../../runtime/on-abort.ts";
import { SmtpTransport } from "./smtp-transport.ts";
import type { SmtpMessage, SmtpResult } from "./smtp-types.ts";
import type { SmtpServer } from "./smtp-url.ts";

export interface OnceOptions {
  readonly server: SmtpServer;
  readonly certificates: string | null;
  readonly clock: Clock;
  readonly signal: AbortSignal;
}

export type OnceResult = Exclude<SmtpResult, { kind: "withdrawn" }>;

async function sendOnce(
  message: SmtpMessage,
  { server, certificates, clock, signal }: OnceOptions,
): Promise<OnceResult> {
  const timeouts = { drain: 0 };
  const transport = new SmtpTransport({ server, certificates, connections: 1, clock, timeouts });
  const stopWaiting = onAbort(signal, () => void transport.close());
  try {
    const result = await transport.send(message, {
      mayStillSend: async () => !signal.aborted,
      transmitting: async () => signal.throwIfAborted(),
    });
    signal.throwIfAborted();
    if (result.kind === "withdrawn") throw new Error("the mail was withdrawn");
    return result;
  } finally {
    stopWaiting();
    await transport.close();
  }
}

export interface OnceFailure {
  readonly code: "mail_refused" | "mail_unknown" | "mail_not_sent";
  readonly message: string;
}

export function failureOf(result: OnceResult): OnceFailure | null {
  if (result.kind === "accepted") return null;
  const { stage, code, enhancedCode, text } = result.reply;
  const words = [code, enhancedCode, text].filter((word) => word !== null && word !== "").join(" ");
  if (result.kind === "refused")
    return { code: "mail_refused", message: `the mail server refused the mail at ${stage}: ${words}` };
  if (result.kind === "broken" && result.isPastDot)
    return { code: "mail_unknown", message: `the mail may have arrived: ${words}` };
  return { code: "mail_not_sent", message: `the mail was not sent: ${words}` };
}

interface ComposedMail {
  readonly from: string;
  readonly to: string;
  readonly text: string;
}

/** Signs and sends a mail that an operation composed. Rejects when the signal ends it first. */
export async function sendComposed(
  { text, ...envelope }: ComposedMail,
  options: OnceOptions & { readonly dkim: DkimKey | null },
): Promise<OnceResult> {
  const bytes = Buffer.from(options.dkim === null ? text : await signMail(text, options.dkim), "utf8");
  return sendOnce({ ...envelope, bytes, needsSmtpUtf8: needsSmtpUtf8(envelope.to) }, options);
}
