/** Recognizes a returned message by its structure and by the fixed texts of two mail servers, never by free text. */
import type { Attachment, Email, Header } from "postal-mime";
import { neededLines } from "./needed-lines.ts";
import { readTextReport } from "./text-report.ts";
import { isComplaint, readFeedback, readStatus, type FeedbackReport, type RecipientStatus } from "./report-fields.ts";

/** `messageId` is the `<…>` of the reported message; null if its headers weren't returned. */
type Report = { readonly messageId: string | null } & (
  | {
      /** A delivery report (RFC 3464). Only recipients with the action `failed` count. */
      readonly kind: "delivery-status";
      readonly recipients: readonly RecipientStatus[];
    }
  | ({ readonly kind: "complaint" } & FeedbackReport)
);

/** `token` comes from the address the message was sent to, or is null. */
export type ReturnedMessage = { readonly token: string | null } & (Report | { readonly kind: "auto-reply" | "other" });

export interface ReturnPath {
  /** The mail server's environment variable `ORIGINAL_RECIPIENT`. It takes precedence over headers. */
  readonly originalRecipient?: string | undefined;
  readonly recipient?: string | undefined;
  /** For example `bounces+{token}@b.example`. If missing, no token is read. */
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

/** Accepts any line endings. Never rejects: malformed messages are `other`. */
export async function readReport(raw: Uint8Array, path: ReturnPath = {}): Promise<ReturnedMessage> {
  const email = await parse(raw);
  const token = readToken(email?.headers ?? [], path);
  if (email === undefined) return { kind: "other", token };
  const type = reportType(email.headers);
  const report = type === undefined ? undefined : readParts(email.attachments, type);
  if (report !== undefined) return { ...report, token };
  const recipients = token === null ? [] : readTextReport(raw);
  if (recipients.length > 0) return { kind: "delivery-status", token, messageId: null, recipients };
  // The default if nothing else is found: Exim labels its reports as automatic replies too.
  const kind = isAutoReply(email.headers) ? "auto-reply" : "other";
  return (await readProven(email, path, token)) ?? { kind, token };
}

const NESTED_MAX = 3;

/** Reads reports that aren't labeled as one. Anyone could have sent them, so only the token identifies the survey. */
async function readProven(
  { attachments }: Email,
  path: ReturnPath,
  token: string | null,
  depth = NESTED_MAX,
): Promise<ReturnedMessage | undefined> {
  const report = token === null ? undefined : readParts(attachments);
  if (report !== undefined) return { ...report, token, messageId: null };
  for (const part of depth === 0 ? [] : attachments.filter(({ mimeType }) => mimeType === "message/rfc822")) {
    const inner = await parse(new TextEncoder().encode(decodePart(part)));
    if (inner === undefined) continue;
    const found = await readProven(inner, path, token ?? readToken(inner.headers, path), depth - 1);
    if (found !== undefined) return found;
  }
  return undefined;
}

function readParts(parts: readonly Attachment[], type?: string): Report | undefined {
  const messageId = returnedMessageId(parts);
  const isA = (kind: string): boolean => type === undefined || type === kind;
  const recipients = isA("delivery-status") ? readStatus(partsText(parts, STATUS)) : [];
  if (recipients.length > 0) return { kind: "delivery-status", messageId, recipients };
  const feedback = readFeedback(partsText(parts, FEEDBACK));
  return isA("feedback-report") && isComplaint(feedback) ? { kind: "complaint", messageId, ...feedback } : undefined;
}

/** Loads the parser on demand, because few runs read a bounce. */
async function parse(raw: Uint8Array): Promise<Email | undefined> {
  const { default: PostalMime } = await import("postal-mime");
  try {
    return await PostalMime.parse(neededLines(raw), { forceRfc822Attachments: true });
  } catch {
    // The parser rejects deep nesting and huge headers, which no mail server's report has.
    return undefined;
  }
}

function reportType(headers: readonly Header[]): string | undefined {
  const type = headerValue(headers, "content-type") ?? "";
  if (!/^\s*multipart\/report\b/i.test(type)) return undefined;
  return /;\s*report-type\s*=\s*"?([\w-]+)/i.exec(type)?.[1]?.toLowerCase();
}

/** `Auto-Submitted` is from RFC 3834, section 5; older programs send `X-Autoreply`. */
function isAutoReply(headers: readonly Header[]): boolean {
  const submitted = headerValue(headers, "auto-submitted") ?? "";
  return /^\s*auto-replied\b/i.test(submitted) || headerValue(headers, "x-autoreply") !== undefined;
}

function headerValue(headers: readonly Header[], key: string): string | undefined {
  return headers.find((header) => header.key === key)?.value;
}

function partsText(parts: readonly Attachment[], types: ReadonlySet<string>): string {
  return parts
    .filter(({ mimeType }) => types.has(mimeType))
    .map(decodePart)
    .join("\n\n");
}

/** Reports should be ASCII, but Japanese ones often use ISO-2022-JP, which starts with `ESC $`. */
function decodePart({ content }: Attachment): string {
  if (typeof content === "string") return content;
  const text = new TextDecoder().decode(content);
  return text.includes("\u001B$") ? new TextDecoder("iso-2022-jp").decode(content) : text;
}

function returnedMessageId(parts: readonly Attachment[]): string | null {
  const part = parts.find(({ mimeType }) => RETURNED.has(mimeType));
  if (part === undefined) return null;
  const [header = ""] = decodePart(part)
    .replace(/^[\r\n]+/, "")
    .split(/\r?\n\r?\n/, 1);
  return /^Message-ID:\s*(<[^<>\s]+>)/im.exec(header)?.[1] ?? null;
}

function readToken(headers: readonly Header[], path: ReturnPath): string | null {
  const [before, after] = (path.bounceAddress ?? "").split("{token}");
  if (before === undefined || after === undefined) return null;
  // Servers may change the case of the domain and of the part before the token, but not of the token.
  const form = new RegExp(`(?<![\\w.+-])${escaped(before)}([\\w-]+)${escaped(after)}(?![\\w.-])`, "i");
  const fields = RECIPIENT_FIELDS.flatMap((field) => headers.filter(({ key }) => key === field));
  const values = [path.originalRecipient ?? "", path.recipient ?? "", ...fields.map(({ value }) => value)];
  return values.map((value) => form.exec(value)?.[1]).find((token) => token !== undefined) ?? null;
}

function escaped(text: string): string {
  return text.replaceAll(/[^\w@]/g, String.raw`\$&`);
}
