import { digestSubject } from "../../insight/report/digest.ts";
import type { DueDigest } from "../domain/ports.ts";
import type { SentDigest } from "../operations/define/operation.ts";
import type { Slack } from "./slack-digest.ts";
import { readDigest, renderDigest } from "./digest-mail.ts";

export async function composeDigest(
  { store, contextOf }: Pick<Slack, "contextOf" | "store">,
  due: DueDigest,
): Promise<SentDigest> {
  const context = await contextOf(due.project);
  const digest = await readDigest(store, due, context);
  const { message } = await renderDigest(due, digest, context, null);
  const mail = { from: message.from, to: message.to, text: Buffer.from(message.bytes).toString("utf8") };
  return { to: due.email, subject: digestSubject(digest.facts), status: null, text: "", mail };
}
