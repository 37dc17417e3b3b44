import * as v from "valibot";
import type { ProviderEvent } from "./to-report.ts";

export type ReadEvents = (body: unknown) => readonly ProviderEvent[] | null;

type EventType = ProviderEvent["type"];

const text = v.nullish(v.string(), null);
const EVENTS_MAX = 1000;

const GENERIC = v.pipe(
  v.object({
    id: text,
    email: text,
    message_id: text,
    type: v.picklist(["hard", "soft", "complaint", "unsubscribe"]),
    reason: text,
  }),
  v.check(({ email, message_id }) => email !== null || message_id !== null, "email or message_id is required"),
);
const GENERIC_BODY = v.union([GENERIC, v.pipe(v.array(GENERIC), v.maxLength(EVENTS_MAX))]);

export const readGeneric: ReadEvents = (body) =>
  parsed(GENERIC_BODY, body, (given) =>
    [given].flat().map(({ message_id: messageId, ...event }) => ({ ...event, messageId, status: null })),
  );

const POSTMARK = v.object({
  RecordType: v.string(),
  ID: v.nullish(v.union([v.number(), v.string()]), null),
  Type: text,
  Email: text,
  Details: text,
  Description: text,
  Recipient: text,
  ChangedAt: text,
  SuppressSending: v.nullish(v.boolean(), false),
  SuppressionReason: text,
});
const POSTMARK_TYPES: ReadonlyMap<string, EventType> = new Map([
  ["HardBounce", "hard"],
  ["BadEmailAddress", "hard"],
  ["SoftBounce", "soft"],
  ["Transient", "soft"],
  ["DnsError", "soft"],
  ["SpamComplaint", "complaint"],
  ["ManualSuppression", "unsubscribe"],
  ["Unsubscribe", "unsubscribe"],
]);

/** Postmark assigns its own message ids, so reports match by address. */
export const readPostmark: ReadEvents = (body) =>
  parsed(POSTMARK, body, (given) => {
    const { RecordType, ID, Email, Recipient, ChangedAt, Details, Description } = given;
    const type = POSTMARK_TYPES.get(postmarkName(given) ?? "");
    if (type === undefined) return [];
    const email = Email ?? Recipient;
    const key = ID ?? (ChangedAt === null ? null : `${email} ${ChangedAt}`);
    const id = key === null ? null : `${RecordType} ${key}`;
    return [{ id, type, email, messageId: null, status: null, reason: Details || Description }];
  });

function postmarkName(given: v.InferOutput<typeof POSTMARK>): string | null {
  const { RecordType, Type, SuppressSending, SuppressionReason } = given;
  if (RecordType === "Bounce") return Type;
  if (RecordType !== "SubscriptionChange") return RecordType;
  // Ignores suppressions after a bounce: they have no reply text, and the bounce itself is reported too.
  return SuppressSending && SuppressionReason !== "HardBounce" ? SuppressionReason : null;
}

const SENDGRID = v.array(
  v.object({
    event: v.string(),
    type: text,
    email: text,
    "smtp-id": text,
    sg_event_id: text,
    status: text,
    reason: text,
    bounce_classification: text,
  }),
);
const SENDGRID_EVENTS: ReadonlyMap<string, EventType> = new Map([
  ["spamreport", "complaint"],
  ["unsubscribe", "unsubscribe"],
  ["group_unsubscribe", "unsubscribe"],
]);
/** `dropped` means that SendGrid no longer attempts delivery, because of an earlier event. */
const SENDGRID_DROPPED: ReadonlyMap<string, EventType> = new Map([
  ["Bounced Address", "hard"],
  ["Spam Reporting Address", "complaint"],
  ["Unsubscribed Address", "unsubscribe"],
]);
const SENDGRID_HARD: ReadonlySet<string> = new Set(["invalid address", "unclassified"]);

export const readSendGrid: ReadEvents = (body) =>
  parsed(SENDGRID, body, (events) =>
    events.flatMap((given) => {
      const type = sendGridType(given);
      const { sg_event_id: id, email, "smtp-id": messageId, status, reason } = given;
      return type === null ? [] : [{ id, type, email, messageId, status, reason }];
    }),
  );

function sendGridType({
  event,
  type,
  reason,
  bounce_classification: classification,
}: v.InferOutput<typeof SENDGRID>[number]): EventType | null {
  if (event === "bounce") {
    const isHard = classification === null || SENDGRID_HARD.has(classification.toLowerCase());
    return type === "blocked" || !isHard ? "soft" : "hard";
  }
  return (event === "dropped" ? SENDGRID_DROPPED.get(reason ?? "") : SENDGRID_EVENTS.get(event)) ?? null;
}

const MAILGUN = v.object({
  "event-data": v.object({
    id: text,
    event: v.string(),
    severity: text,
    reason: text,
    recipient: text,
    message: v.nullish(v.object({ headers: v.nullish(v.object({ "message-id": text }), null) }), null),
    "delivery-status": v.nullish(
      v.object({
        code: v.nullish(v.number(), null),
        "enhanced-code": text,
        message: text,
        description: text,
      }),
      null,
    ),
  }),
});

/** Temporary failures are ignored, because the provider retries them. */
export const readMailgun: ReadEvents = (body) =>
  parsed(MAILGUN, body, ({ "event-data": given }) => {
    const type = mailgunType(given);
    if (type === null) return [];
    const { id, recipient: email, message, "delivery-status": said } = given;
    const words = said?.message || said?.description || null;
    const isCode = (said?.code ?? 0) >= 400 && (said?.code ?? 0) < 600 && !/^[45]\d\d/.test(words ?? "");
    const reason = words === null ? null : `${isCode ? `${said?.code} ` : ""}${words}`;
    const status = said?.["enhanced-code"] || null;
    return [{ id, type, email, messageId: message?.headers?.["message-id"] ?? null, status, reason }];
  });

const MAILGUN_REASONS: ReadonlyMap<string, EventType> = new Map([
  ["suppress-complaint", "complaint"],
  ["suppress-unsubscribe", "unsubscribe"],
  ["old", "soft"],
]);

function mailgunType(given: v.InferOutput<typeof MAILGUN>["event-data"]): EventType | null {
  if (given.event === "complained") return "complaint";
  if (given.event === "unsubscribed") return "unsubscribe";
  if (given.event !== "failed" || given.severity !== "permanent") return null;
  // Code 602 means that Mailgun retried the message for too long.
  return MAILGUN_REASONS.get(given.reason ?? "") ?? (given["delivery-status"]?.code === 602 ? "soft" : "hard");
}

const SES_RECIPIENT = v.object({ emailAddress: v.string(), status: text, diagnosticCode: text });
const SES = v.object({
  notificationType: text,
  eventType: text,
  mail: v.nullish(
    v.object({ headers: v.nullish(v.array(v.object({ name: v.string(), value: v.string() })), null) }),
    null,
  ),
  bounce: v.nullish(
    v.object({ bounceType: v.string(), bounceSubType: text, bouncedRecipients: v.array(SES_RECIPIENT) }),
    null,
  ),
  complaint: v.nullish(
    v.object({ complaintFeedbackType: text, complainedRecipients: v.array(v.object({ emailAddress: v.string() })) }),
    null,
  ),
});

/** Amazon assigns its own message id; ours is among the headers, if the topic is set to include them. */
export function readSes(notificationId: string): ReadEvents {
  return (body) =>
    parsed(SES, body, ({ notificationType, eventType, mail, bounce, complaint }) => {
      const kind = notificationType ?? eventType;
      const messageId = mail?.headers?.find(({ name }) => name.toLowerCase() === "message-id")?.value ?? null;
      if (kind === "Bounce" && bounce !== null) {
        const isHard = bounce.bounceType === "Permanent";
        // Amazon reports a vacation reply as a transient bounce, and the notice has no reply text.
        const hasWords = isHard || bounce.bounceSubType === "MailboxFull";
        return bounce.bouncedRecipients.flatMap(({ emailAddress: email, status, diagnosticCode: reason }, index) =>
          hasWords || status !== null || reason !== null
            ? { id: `${notificationId}/${index}`, type: isHard ? "hard" : "soft", email, messageId, status, reason }
            : [],
        );
      }
      if (kind !== "Complaint" || complaint === null || complaint.complaintFeedbackType === "not-spam") return [];
      return complaint.complainedRecipients.map(({ emailAddress: email }, index) => ({
        id: `${notificationId}/${index}`,
        type: "complaint",
        email,
        messageId,
        status: null,
        reason: complaint.complaintFeedbackType,
      }));
    });
}

function parsed<Schema extends v.GenericSchema>(
  schema: Schema,
  body: unknown,
  read: (given: v.InferOutput<Schema>) => readonly ProviderEvent[],
): readonly ProviderEvent[] | null {
  const { success, output } = v.safeParse(schema, body);
  return success ? read(output) : null;
}
