/** The survey as an email (section 2 "Special properties") that meets the rules of large receivers. */
import { createHash } from "node:crypto";
import { domainToUnicode } from "node:url";
import type { Random } from "../../../runtime/random.ts";
import type { DueQuestion, DueSurvey, FrozenMessage } from "../../domain/ports.ts";
import { NO_PRESENTATION, shownName } from "../../domain/projects/presentation.ts";
import { type SurveyWords, readSurveyWords } from "../../domain/surveys/survey-words.ts";
import { singleLine } from "../../domain/texts/plain-text.ts";
import { fillText, surveyTexts } from "../../domain/texts/survey-texts.ts";
import { composeMail, type MailHeader } from "./mime.ts";
import { type MailContext, type MailSender, senderDomain } from "./sender.ts";
import { surveyBody } from "./survey-body.ts";

export interface FrozenMail {
  readonly messageId: string;
  /** When it was first rendered, in Unix seconds. */
  readonly at: number;
  readonly from: { readonly name: string | null; readonly address: string };
  readonly boundary: string;
  readonly subject: string;
}

const ID_BYTES = 16;
const BOUNDARY_BYTES = 18;
const SENDER_ID_LENGTH = 10;

export function freezeMail(
  due: DueQuestion,
  context: Omit<MailContext, "appUrl">,
  random: Pick<Random, "token">,
  now: number,
): FrozenMail {
  if (due.frozen !== null) {
    const { messageId, values } = due.frozen;
    return { ...(values as unknown as Omit<FrozenMail, "messageId">), messageId };
  }
  const { sender } = context;
  const words = mailWords(due, context);
  const texts = surveyTexts(words.locale);
  const subject = singleLine(words.emailSubject ?? "") || texts.subject;
  return {
    messageId: `${random.token(ID_BYTES)}@${senderDomain(sender.from)}`,
    at: now,
    from: { name: senderName(due, sender, words), address: sender.from },
    boundary: random.token(BOUNDARY_BYTES),
    subject: "survey" in due ? fillText(texts.reminderSubject, { subject }) : subject,
  };
}

function mailWords(
  { properties }: Pick<DueQuestion, "properties">,
  { presentation = NO_PRESENTATION }: Pick<MailContext, "presentation">,
): SurveyWords {
  return readSurveyWords(properties, presentation);
}

export function toFrozenMessage({ messageId, ...values }: FrozenMail, bounceToken: string | null): FrozenMessage {
  return { messageId, bounceToken, values };
}

export function formatSurveyMail(due: DueQuestion, frozen: FrozenMail, context: MailContext): Promise<string> {
  const { locale } = mailWords(due, context);
  const { from, subject, at, messageId, boundary } = frozen;
  const stream = streamHeaders({
    project: due.project,
    kind: "survey",
    locale,
    domain: senderDomain(from.address),
    leaveUrl: `${context.appUrl}/u/${due.unsubscribeToken}`,
  });
  return composeMail({
    from,
    to: [{ name: withoutAddress(due.person.name ?? ""), address: due.person.email ?? "" }],
    replyTo: context.sender.replyTo,
    subject,
    at,
    messageId,
    // Makes mail programs show a reminder in the same thread as its survey.
    inReplyTo: "survey" in due ? (due.survey.frozen?.messageId ?? null) : null,
    headers: [["Content-Language", locale], ...stream],
    ...renderBody(due, frozen, context),
    boundary,
  });
}

export async function previewMail(due: DueSurvey, context: MailContext, random: Pick<Random, "token">, now: number) {
  const frozen = freezeMail(due, context, random, now);
  return {
    from: addressLine(frozen.from.name, frozen.from.address),
    to: addressLine(withoutAddress(due.person.name ?? ""), due.person.email ?? ""),
    subject: frozen.subject,
    ...renderBody(due, frozen, context),
    message: await formatSurveyMail(due, frozen, context),
  };
}

function addressLine(name: string | null, address: string): string {
  return name === null || name === "" ? address : `${singleLine(name)} <${address}>`;
}

function renderBody(due: DueQuestion, frozen: FrozenMail, context: MailContext) {
  const { appUrl, sender, presentation = NO_PRESENTATION } = context;
  const name = shownName(presentation, due.project, { senderName: sender.senderName, productName: null });
  return surveyBody(mailWords(due, context), {
    surveyUrl: `${appUrl}/s/${due.token}`,
    unsubscribeUrl: `${appUrl}/u/${due.unsubscribeToken}`,
    sender: name ?? knownDomain(senderDomain(frozen.from.address)),
    footer: sender.footer,
    brand: presentation.brand,
    isReminder: "survey" in due,
  });
}

/** Null for names within a network, such as `localhost`, and IP addresses, which customers don't know. */
function knownDomain(domain: string): string | null {
  return /\.(?!local$|localhost$|internal$)[a-z][a-z0-9-]*$/i.test(domain) ? domainToUnicode(domain) : null;
}

export interface MailStream {
  readonly project: DueSurvey["project"];
  readonly kind: "survey" | "digest";
  readonly locale: string;
  readonly domain: string;
  readonly leaveUrl: string;
}

export function streamHeaders({ project, kind, locale, domain, leaveUrl }: MailStream): MailHeader[] {
  // Receivers ignore one-click over plain HTTP, or even reject such mail (RFC 8058, 3).
  const oneClick: MailHeader[] = leaveUrl.startsWith("https:")
    ? [
        ["List-Unsubscribe", `<${leaveUrl}>`],
        ["List-Unsubscribe-Post", "List-Unsubscribe=One-Click"],
      ]
    : [];
  const list = `${kind === "survey" ? "" : `${kind}.`}${listLabel(project)}.${domain}`;
  return [
    ["List-ID", `<${list}>`],
    ...oneClick,
    ["Feedback-ID", `${project.id}:${kind}:${locale}:${senderId(domain)}`],
    ["Auto-Submitted", "auto-generated"],
    ["X-Auto-Response-Suppress", "OOF, AutoReply"],
  ];
}

/** Skips the project name `default`, which recipients wouldn't recognize. */
function senderName(due: DueQuestion, sender: MailSender, { productName }: SurveyWords): string | null {
  const project = due.project.name === "default" ? null : due.project.name;
  return singleLine(sender.senderName ?? productName ?? project ?? "") || null;
}

/** Filters treat a name such as `Bill <ceo@example.com>` as a forged sender. */
function withoutAddress(name: string): string {
  return name.replace(/[@<>]/g, "");
}

function listLabel({ id, name }: DueSurvey["project"]): string {
  const label = name
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "-")
    .replace(/^-+|-+$/g, "")
    .slice(0, 40);
  return label === "" ? `project-${id}` : label;
}

function senderId(domain: string): string {
  return createHash("sha256").update(domain).digest("hex").slice(0, SENDER_ID_LENGTH);
}
