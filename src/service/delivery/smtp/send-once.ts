import { type DkimKey, signMail } from "../mail/dkim.ts";
import { needsSmtpUtf8 } from "../message/mime.ts";
import type { Clock } from "../../../runtime/clock.ts";
import { onAbort } from "../../../runtime/on-abort.ts";
import { SmtpTransport } from "./smtp-transport.ts";
import type { SmtpResult } from "./smtp-types.ts";
import type { SmtpServer } from "./smtp-url.ts";

interface ComposedMail {
  readonly from: string;
  readonly to: string;
  readonly text: string;
}

interface OnceOptions {
  readonly server: SmtpServer;
  readonly certificates: string | null;
  readonly dkim: DkimKey | null;
  readonly clock: Clock;
  readonly signal: AbortSignal;
}

type OnceResult = Exclude<SmtpResult, { kind: "withdrawn" }>;

/** Rejects if the signal aborts it. */
export async function sendComposed(
  { from, to, text }: ComposedMail,
  { server, certificates, dkim, clock, signal }: OnceOptions,
): Promise<OnceResult> {
  const bytes = Buffer.from(dkim === null ? text : await signMail(text, dkim), "utf8");
  const message = { from, to, bytes, needsSmtpUtf8: needsSmtpUtf8(to) };
  const transport = new SmtpTransport({ server, certificates, connections: 1, clock });
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

export function explainFailure(result: OnceResult): OnceFailure | null {
  if (result.kind === "accepted") return null;
  const { stage, code, enhancedCode, text } = result.reply;
  const words = [code, enhancedCode, text].filter((word) => word !== null && word !== "").join(" ");
  if (result.kind === "refused")
    return { code: "mail_refused", message: `the mail server refused the mail at ${stage}: ${words}` };
  if (result.kind === "broken" && result.isPastDot)
    return { code: "mail_unknown", message: `the mail may have arrived: ${words}` };
  return { code: "mail_not_sent", message: `the mail was not sent: ${words}` };
}
