import { digestSubject } from "../../insight/report/digest.ts";
import { NotTakenError } from "../domain/errors.ts";
import type { SentDigest } from "../operations/define/operation.ts";
import { failureOf, sendOnce } from "../delivery/smtp/send-once.ts";
import type { DueDigest } from "../domain/ports.ts";
import type { ServiceOptions } from "../service-options.ts";
import type { Slack } from "./slack-digest.ts";
import { readDigest, renderDigest } from "./digest-mail.ts";

/** Throws NotTakenError if the mail was refused, or can't be sent. */
export async function mailDigest(
  { store, clock, contextOf }: Pick<Slack, "clock" | "contextOf" | "store">,
  way: NonNullable<ServiceOptions["commandMail"]> | null,
  due: DueDigest,
): Promise<SentDigest> {
  if (way === null) throw new NotTakenError(`${due.email} gets it by mail, which needs a mail server`);
  const context = await contextOf(due.project);
  const digest = await readDigest(store, due, context);
  const { message } = await renderDigest(due, digest, context, way.dkim);
  const result = await sendOnce(message, { ...way, clock, signal: new AbortController().signal });
  const failure = failureOf(result);
  if (failure !== null) throw new NotTakenError(failure.message);
  const { code, text } = result.reply;
  return { to: due.email, subject: digestSubject(digest.facts), status: code, text };
}
