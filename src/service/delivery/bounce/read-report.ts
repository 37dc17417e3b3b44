/** Reads a message that came back. Only its structure counts, never a word in free text. */
import type { Attachment, Email, Header } from "postal-mime";
import { neededLines } from "./needed-lines.ts";
import { isComplaint, readFeedback, readStatus, type FeedbackReport, type RecipientStatus } from "./report-fields.ts";

/** The message as `kind` says; each has the `token` of the address that it came to, null when that has none. */
export type ReturnedMessage =
  | {
      /** A report about the delivery (RFC 3464); of its recipients those with the action `failed` count. */
      readonly kind: "delivery-status";
      readonly token: string | null;
      /** `<…>` of the message that is reported, null when its header fields were not returned. */
      readonly messageId: string | null;
      readonly recipients: readonly RecipientStatus[];
    }
  | ({
      /** A person reported the message as spam (RFC 5965). */
      readonly kind: "complaint";
      readonly token: string | null;
      readonly messageId: string | null;
    } & FeedbackReport)
  | { readonly kind: "auto-reply"; readonly token: string | null }
  | { readonly kind: "other"; readonly token: string | null };

export interface ReturnPath {
  /**
   * The values that the mail server put in `ORIGINAL_RECIPIENT` and `RECIPIENT`; they take precedence over header
   * fields.
   */
  readonly originalRecipient?: string | undefined;
  readonly recipient?: string | undefined;
  /** The address of bounces, with `{token}` in it: `bounces+{token}@b.example`. Without it no token is read. */
  readonly bounceAddress?: string | undefined;
}

const RECIPIENT_FIELDS = ["delivered-to", "x-original-to", "to"];
const RETURNED: ReadonlySet<string> = new Set([
  "message/rfc822",
  "text/rfc822-headers",
  "message/global",
  "message/global-headers",
]);
const STATUS: ReadonlySet<string> = new Set(["message/delivery-status", "message/global-delivery-status"]);
const FEEDBACK: ReadonlySet<string> = new Set(["message/feedback-report"]);

/** Reads the bytes of one message, whatever its line endings are. Never rejects: what is malformed is `other`. */
export async function readReport(raw: Uint8Array, path: ReturnPath = {}): Promise<ReturnedMessage> {
  const email = await parse(raw);
  if (email === undefined) return { kind: "other", token: readToken([], path) };
  const token = readToken(email.headers, path);
  return readStructure(email, token) ?? { kind: isAutoReply(email.headers) ? "auto-reply" : "other", token };
}

/** Undefined unless it is a `multipart/report` of one of the two kinds that count, with the part that makes it one. */
function readStructure(email: Email, token: string | null): ReturnedMessage | undefined {
  const type = reportType(email.headers);
  const messageId = returnedMessageId(email.attachments);
  if (type === "delivery-status") {
    const recipients = readStatus(partsText(email.attachments, STATUS));
    return recipients.length === 0 ? undefined : { kind: "delivery-status", token, messageId, recipients };
  }
  if (type !== "feedback-report") return undefined;
  const feedback = readFeedback(partsText(email.attachments, FEEDBACK));
  return isComplaint(feedback) ? { kind: "complaint", token, messageId, ...feedback } : undefined;
}

/** The parser is loaded here because few runs of the program ever read a bounce. */
async function parse(raw: Uint8Array): Promise<Email | undefined> {
  const { default: PostalMime } = await import("postal-mime");
  try {
    return await PostalMime.parse(neededLines(raw));
  } catch {
    // Nested too deeply, or mostly header: no mail server makes such a report.
    return undefined;
  }
}

function reportType(headers: readonly Header[]): string | undefined {
  const type = valueOf(headers, "content-type") ?? "";
  if (!/^\s*multipart\/report\b/i.test(type)) return undefined;
  return /;\s*report-type\s*=\s*"?([\w-]+)/i.exec(type)?.[1]?.toLowerCase();
}

/** RFC 3834 §5; the second field is that of programs older than it. */
function isAutoReply(headers: readonly Header[]): boolean {
  const submitted = valueOf(headers, "auto-submitted") ?? "";
  return /^\s*auto-replied\b/i.test(submitted) || valueOf(headers, "x-autoreply") !== undefined;
}

function valueOf(headers: readonly Header[], key: string): string | undefined {
  return headers.find((header) => header.key === key)?.value;
}

function partsText(parts: readonly Attachment[], types: ReadonlySet<string>): string {
  return parts
    .filter(({ mimeType }) => types.has(mimeType))
    .map(textOf)
    .join("\n\n");
}

/** Reports are ASCII by the standard, and in Japan often not: `ESC $` begins characters of ISO-2022-JP. */
function textOf({ content }: Attachment): string {
  if (typeof content === "string") return content;
  const text = new TextDecoder().decode(content);
  return text.includes("\u001B$") ? new TextDecoder("iso-2022-jp").decode(content) : text;
}

function returnedMessageId(parts: readonly Attachment[]): string | null {
  const part = parts.find(({ mimeType }) => RETURNED.has(mimeType));
  if (part === undefined) return null;
  const [header = ""] = textOf(part)
    .replace(/^[\r\n]+/, "")
    .split(/\r?\n\r?\n/, 1);
  return /^Message-ID:\s*(<[^<>\s]+>)/im.exec(header)?.[1] ?? null;
}

/** The token in the first address that has the form of the bounce address. */
function readToken(headers: readonly Header[], path: ReturnPath): string | null {
  const [before, after] = (path.bounceAddress ?? "").split("{token}");
  if (before === undefined || after === undefined) return null;
  // Servers may change the case of the domain, and of what precedes the token; the token's own case counts.
  const form = new RegExp(`(?<![\\w.+-])${escaped(before)}([\\w-]+)${escaped(after)}(?![\\w.-])`, "i");
  const fields = RECIPIENT_FIELDS.flatMap((field) => headers.filter(({ key }) => key === field));
  const values = [path.originalRecipient ?? "", path.recipient ?? "", ...fields.map(({ value }) => value)];
  return values.map((value) => form.exec(value)?.[1]).find((token) => token !== undefined) ?? null;
}

function escaped(text: string): string {
  return text.replaceAll(/[^\w@]/g, String.raw`\$&`);
}
