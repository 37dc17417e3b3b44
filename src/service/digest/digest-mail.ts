import { createHash } from "node:crypto";
import type { Json, JsonObject } from "../../contract/json.ts";
import { capital } from "../../contract/text/capital.ts";
import { labelAt } from "../../runtime/calendar/periods.ts";
import { createWallClock } from "../../runtime/zone.ts";
import type { QuestionResult } from "../../insight/answers/answer-tally.ts";
import { createMaskedAnswers } from "../../insight/answers/masked-answers.ts";
import { type DigestFrame, digestHtml, digestSubject, digestText } from "../../insight/report/digest.ts";
import { type DigestFacts, reportComments } from "../../insight/report/facts.ts";
import { type DkimKey, signMail } from "../delivery/mail/dkim.ts";
import { asciiDomain, composeMail, needsSmtpUtf8 } from "../delivery/message/mime.ts";
import { senderDomain, type MailContext } from "../delivery/message/sender.ts";
import { streamHeaders } from "../delivery/message/survey-mail.ts";
import { channelRates } from "../domain/answers/metrics.ts";
import { digestWeek } from "../domain/delivery/digests.ts";
import { WEEKDAYS } from "../domain/windows/windows.ts";
import { activeQuestions } from "../domain/questions/questions.ts";
import type { DueDigest, Store, Transaction } from "../domain/ports.ts";
import { fullName, NO_PRESENTATION } from "../domain/projects/presentation.ts";
import { newestResponses } from "../newest-responses.ts";
import type { DigestMail } from "../sending/mail.ts";
import type { SentDigest } from "../operations/define/operation.ts";
import { signNewestShare } from "../domain/shares/shares.ts";
import { LINK_SECRET, signLink } from "../domain/signed-links.ts";

const COMMENTS_MAX = 200;

async function readDigestFacts(
  store: Store,
  due: DueDigest,
  { name, appUrl }: { readonly name: string | null; readonly appUrl: string },
): Promise<DigestFacts> {
  const { project, scheduledAt, zone } = due;
  const { since, until, before } = digestWeek(scheduledAt, zone ?? "UTC");

  const count = (from: number, to: number): Promise<DigestFacts["counts"]> =>
    store.read((tx) => tx.responses.countScores(project.id, { since: from, until: to, trendId: null }));
  const counts = await count(since, until);
  const wallClock = createWallClock(zone ?? "UTC");
  const day = (at: number): string => labelAt("day", at, wallClock);
  const { commented, newest, questions } = await readCommented(store, due, { since, until });
  const links = await store.read((tx) => signLinks(tx, due, newest));
  return {
    title: name ?? "Customer survey",
    range: `${day(since)} – ${day(until)}`,
    counts,
    commented,
    // The rates can still rise, because recent surveys can be answered.
    rates: { channels: await store.read((tx) => channelRates(tx, project, { since, until })), areOpen: true },
    change: { before: await count(before, since - 1), after: counts, words: "against the 7 days before" },
    questions,
    comments: reportComments(newest, {
      personal: false,
      day,
      urlOf: ({ permalink }) => appUrl + (links.get(permalink) ?? ""),
    }),
  };
}

/** Signed paths of responses, by token. They expire relative to the digest's time, so every attempt is equal. */
async function signLinks(
  tx: Transaction,
  { scheduledAt }: DueDigest,
  rows: readonly JsonObject[],
): Promise<ReadonlyMap<Json | undefined, string>> {
  const links = new Map<Json | undefined, string>();
  for (const { permalink } of rows)
    if (typeof permalink === "string") links.set(permalink, await signLink(tx, `/r/${permalink}`, scheduledAt));
  return links;
}

async function readCommented(
  store: Store,
  { project }: DueDigest,
  range: { readonly since: number; readonly until: number },
) {
  const newest: JsonObject[] = [];
  const answers = createMaskedAnswers({ personal: false });
  let commented = 0;
  for await (const text of newestResponses(store, project.id, { ...range, trendId: null })) {
    const row = JSON.parse(text) as JsonObject;
    const { comment, survey_type: type } = row;
    if (type === "nps") answers.add(row);
    if (type !== "nps" || typeof comment !== "string" || comment.trim() === "") continue;
    commented += 1;
    if (newest.length < COMMENTS_MAX) newest.push(row);
  }
  const questionsAsked = activeQuestions(await store.read((tx) => tx.questions.list(project.id)));
  const results = answers.results();
  const questions = questionsAsked.flatMap(({ id, type, text }): readonly QuestionResult[] => {
    const found = results.filter(({ question }) => question === id);
    const unanswered = { question: id, type, text, answered: 0, values: [], mean: null, words: null };
    return found.length === 0 ? [unanswered] : found;
  });
  return { commented, newest, questions };
}

export interface Digest {
  readonly facts: DigestFacts;
  readonly frame: DigestFrame;
}

/** Deterministic, so that a retry sends the same message. */
export async function makeDigest(
  store: Store,
  due: DueDigest,
  context: MailContext,
  key: DkimKey | null,
): Promise<DigestMail & Digest> {
  const { facts, frame } = await readDigest(store, due, context);
  const { appUrl, sender } = context;
  const leaveUrl = unsubscribeUrl(due, appUrl);
  const sum = createHash("sha256").update(`${due.token}/${due.scheduledAt}`).digest("hex");
  const domain = senderDomain(sender.from);
  const messageId = `${sum.slice(0, 32)}@${domain}`;
  const unsigned = await composeMail({
    from: { name: sender.senderName, address: sender.from },
    to: [{ name: null, address: due.email }],
    replyTo: sender.replyTo,
    subject: digestSubject(facts),
    at: due.scheduledAt,
    messageId,
    headers: [
      ["Content-Language", "en"],
      ...streamHeaders({ project: due.project, kind: "digest", locale: "en", domain, leaveUrl }),
    ],
    text: digestText(facts, frame),
    html: digestHtml(facts, frame),
    boundary: sum.slice(32, 60),
  });
  const text = key === null ? unsigned : await signMail(unsigned, key);
  // Digests have no bounce token, so they can't use a bounce address that contains one.
  const bounce = sender.bounceAddress?.includes("{token}") === true ? null : sender.bounceAddress;
  const envelope = { from: asciiDomain(bounce ?? sender.from), to: asciiDomain(due.email) };
  return {
    facts,
    frame,
    message: { ...envelope, bytes: Buffer.from(text, "utf8"), needsSmtpUtf8: needsSmtpUtf8(due.email) },
    text,
    messageId,
  };
}

export async function readDigest(
  store: Store,
  due: DueDigest,
  { appUrl, sender, presentation = NO_PRESENTATION }: MailContext,
): Promise<Digest> {
  await makeLinkSecret(store);
  const name = fullName(presentation, due.project, sender.senderName);
  const facts = await readDigestFacts(store, due, { name, appUrl });
  const livePath = await store.read((tx) => signNewestShare(tx, due.project, due.scheduledAt));
  const day = WEEKDAYS[due.weekday] ?? "";
  const why = `You get this every ${capital(day)}.`;
  const frame = {
    foot: { why, leaveUrl: unsubscribeUrl(due, appUrl) },
    accent: presentation.brand.accent?.color ?? null,
    liveUrl: livePath === null ? null : appUrl + livePath,
  };
  return { facts, frame };
}

async function makeLinkSecret(store: Store): Promise<void> {
  const isMade = await store.read(async (tx) => (await tx.secrets.read(LINK_SECRET)) !== null);
  if (!isMade) await store.write((tx) => tx.secrets.ensure(LINK_SECRET), { project: "none" });
}

export async function previewDigest(store: Store, due: DueDigest, context: MailContext) {
  const { facts, frame, text: message } = await makeDigest(store, due, context, null);
  const { from, senderName } = context.sender;
  return {
    from: senderName === null ? from : `${senderName} <${from}>`,
    to: due.email,
    subject: digestSubject(facts),
    text: digestText(facts, frame),
    html: digestHtml(facts, frame),
    message,
  };
}

export async function composeDigest(store: Store, due: DueDigest, context: MailContext): Promise<SentDigest> {
  const { facts, message, text } = await makeDigest(store, due, context, null);
  const mail = { from: message.from, to: message.to, text };
  return { to: due.email, subject: digestSubject(facts), status: null, text: "", mail };
}

function unsubscribeUrl({ token }: DueDigest, appUrl: string): string {
  return `${appUrl}/u/${token}`;
}
