import { createHash } from "node:crypto";
import type { Report, ReportedRecipient } from "../../domain/delivery/bounces.ts";
import { classifyReply } from "../mail/classify-reply.ts";
import { reportedReply } from "../mail/parse-reply.ts";
import { readReport, type ReturnedMessage, type ReturnPath } from "./read-report.ts";
import type { RecipientStatus } from "./report-fields.ts";

export interface ProviderEvent {
  /** Unique per source. Null allows only one event of each type per survey. */
  readonly id: string | null;
  readonly type: "hard" | "soft" | "complaint" | "unsubscribe";
  readonly email: string | null;
  /** Our Message-ID, with or without `<>`. */
  readonly messageId: string | null;
  readonly status: string | null;
  readonly reason: string | null;
}

/** A message goes to one address, but that can be a mailing list whose bounce names many. */
const RECIPIENTS_MAX = 50;
const TEXT_MAX = 500;
const ID_MAX = 998;
const ADDRESS_MAX = 320;

/** Never rejects. If bounce addresses contain a token, the report must prove itself with one. */
export async function mailToReport(raw: Uint8Array, path: ReturnPath = {}): Promise<Report> {
  const message = await readReport(raw, path);
  const { kind, token } = message;
  const id = createHash("sha256").update(raw).digest("base64url");
  const needsProof = path.bounceAddress?.includes("{token}") === true;
  const messageId = "messageId" in message ? bare(message.messageId) : null;
  return { source: "mail", id, kind, token, needsProof, messageId, recipients: readRecipients(message) };
}

export function eventToReport(source: string, event: ProviderEvent): Report {
  const { id, type, email, messageId, reason } = event;
  const common = {
    source,
    id: id?.slice(0, ID_MAX) ?? null,
    token: null,
    messageId: bare(messageId),
    // The secret in the hook's path, or the provider's signature, is the proof.
    needsProof: false,
  };
  if (type === "complaint" || type === "unsubscribe")
    return { ...common, kind: type, recipients: [complainant(email, reason)] };
  const reply = readReply(event.status, reason);
  const recipient = toRecipient(addresses(email), "failed", judgeEvent(event, reply), reply);
  return { ...common, kind: "delivery-status", recipients: [recipient] };
}

function readRecipients(message: ReturnedMessage): readonly ReportedRecipient[] {
  if (message.kind === "complaint") return [complainant(message.originalRecipient, message.feedbackType)];
  return message.kind === "delivery-status" ? message.recipients.slice(0, RECIPIENTS_MAX).map(readRecipient) : [];
}

function readRecipient(status: RecipientStatus): ReportedRecipient {
  const { action, originalRecipient, finalRecipient } = status;
  const reply = readReply(status.status, status.diagnosticCode);
  const verdict = action === "failed" ? judge(reply) : "none";
  return toRecipient(addresses(originalRecipient, finalRecipient), action, verdict, reply);
}

function toRecipient(
  named: readonly string[],
  action: string | null,
  verdict: ReportedRecipient["verdict"],
  { code, enhancedCode, text }: Reply,
): ReportedRecipient {
  return { addresses: named, action, verdict, code, enhancedCode, text: text === "" ? null : text };
}

function complainant(email: string | null, text: string | null): ReportedRecipient {
  const said = text?.slice(0, TEXT_MAX) ?? "";
  return toRecipient(addresses(email), null, "none", { code: null, enhancedCode: null, text: said });
}

type Reply = ReturnType<typeof reportedReply>;

function readReply(status: string | null, diagnosticCode: string | null): Reply {
  const reply = reportedReply({ status, diagnosticCode: diagnosticCode?.slice(0, 8 * TEXT_MAX) ?? null });
  return { ...reply, text: reply.text.slice(0, TEXT_MAX) };
}

function judge(reply: Reply): ReportedRecipient["verdict"] {
  const { outcome, reason } = classifyReply({ ...reply, stage: "report" });
  if (outcome === "bounced") return "bounced";
  return outcome === "retry" && reason !== "vacation" ? "soft" : "none";
}

/**
 * The mail server's reply takes precedence over the provider's hard/soft classification, because many providers call a
 * blocked sender a hard bounce.
 */
function judgeEvent({ type }: ProviderEvent, reply: Reply): ReportedRecipient["verdict"] {
  const { outcome, reason } = classifyReply({ ...reply, stage: "report" });
  if (type === "soft") return outcome === "held" || outcome === "sent" || reason === "vacation" ? "none" : "soft";
  return reason === "unknown" || reason === "accepted" ? "bounced" : judge(reply);
}

function addresses(...given: readonly (string | null)[]): readonly string[] {
  const named = given.filter((address) => address !== null && address !== "" && address.length <= ADDRESS_MAX);
  return [...new Set(named)] as readonly string[];
}

function bare(messageId: string | null): string | null {
  const id = (messageId ?? "").trim().replace(/^<(.*)>$/, "$1");
  return id === "" || id.length > ID_MAX ? null : id;
}
