import { digestSlack, digestSubject } from "../../insight/report/digest.ts";
import { type Clock, unixSeconds } from "../../runtime/clock.ts";
import type { Random } from "../../runtime/random.ts";
import type { MailContext } from "../delivery/message/sender.ts";
import { NotTakenError } from "../domain/errors.ts";
import type { SentDigest } from "../operations/define/operation.ts";
import { refuseUrl } from "../domain/webhooks/addresses.ts";
import { isSlackTarget, shownTarget, slackReach } from "../domain/webhooks/digest-targets.ts";
import { retryOrGiveUp } from "../domain/delivery/retries.ts";
import type { DeliveryProgress, DeliveryResult, MessageSender } from "../domain/delivery/sender.ts";
import type { Project } from "../domain/inputs.ts";
import type { DueDigest, Store } from "../domain/ports.ts";
import type { AttemptEnd } from "../domain/webhooks/attempts.ts";
import { postOnce } from "../webhook/post-once.ts";

export interface Slack {
  readonly store: Store;
  readonly clock: Clock;
  readonly random: Random;
  readonly own: () => string[];
  readonly readContext: (project: Project) => Promise<MailContext>;
}

export function withSlackDigests(slack: Slack, sender: MessageSender): MessageSender {
  if (!sender.channels.includes("digest")) return sender;
  const deliver: MessageSender["deliver"] = (due, progress) =>
    due.channel === "digest" && isSlackTarget(due.email)
      ? deliverDigest(slack, due, progress)
      : sender.deliver(due, progress);
  return { ...sender, capacity: (seconds) => sender.capacity(seconds), deliver };
}

async function deliverDigest(slack: Slack, due: DueDigest, progress: DeliveryProgress): Promise<DeliveryResult> {
  // Old data can contain targets that are no longer allowed.
  const refusal = refuseUrl(due.email, slackReach(due.allowPrivate), slack.own());
  if (refusal !== null) return { kind: "failed", reason: `the URL is not allowed: ${refusal.message}` };
  const { body } = await slackBody(slack, due);
  if (!(await progress.mayStillSend())) return { kind: "cancelled", reason: "no longer wanted" };
  await progress.transmitting();
  return toResult(slack, due, await postToSlack(slack, due, body, progress.signal));
}

async function slackBody({ store, readContext }: Slack, due: DueDigest) {
  const { readDigest } = await import("./digest-mail.ts");
  const { facts, frame } = await readDigest(store, due, await readContext(due.project));
  return { subject: digestSubject(facts), body: JSON.stringify(digestSlack(facts, frame.liveUrl)) };
}

export async function postDigest(slack: Slack, due: DueDigest): Promise<SentDigest> {
  const to = shownTarget(due.email);
  const { subject, body } = await slackBody(slack, due);
  const { status = null, text = "no answer" } =
    (await postToSlack(slack, due, body, new AbortController().signal)) ?? {};
  if (status === null || status < 200 || status > 299)
    throw new NotTakenError(`${to} did not take it: ${[status ?? [], text].flat().join(" ")}`);
  return { to, subject, status, text, mail: null };
}

function postToSlack(
  { clock, own }: Slack,
  { email: url, allowPrivate }: DueDigest,
  body: string,
  signal: AbortSignal,
): Promise<AttemptEnd | null> {
  const target = { url, ...slackReach(allowPrivate) };
  return postOnce({ clock, own }, target, { "content-type": "application/json" }, body, signal);
}

const TOO_MANY = 429;

/** A retry could post twice, so if there is no response, the week's digest counts as sent. */
function toResult({ clock, random }: Slack, due: DueDigest, end: AttemptEnd | null): DeliveryResult {
  if (end === null) return { kind: "unknown" };
  const { status, text, retryAfter, ms } = end;
  const host = new URL(due.email).hostname;
  const attempt = { stage: "slack", code: status, enhancedCode: null, text, host, serverId: null, ms };
  if (status === null) return { kind: "unknown", attempt };
  if (status >= 200 && status < 300) return { kind: "sent", attempt };
  if (status !== TOO_MANY && status < 500) return { kind: "failed", reason: `${status} ${text}`, attempt };
  const wait = { now: unixSeconds(clock), fraction: random.fraction(), leastSeconds: retryAfter ?? 0 };
  return { ...retryOrGiveUp(due, wait), attempt };
}
