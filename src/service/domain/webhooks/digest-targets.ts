/** Digests go to e-mail addresses or to Slack incoming webhooks, whose URLs are secrets. */
import { emailProblem } from "../../../contract/text/email.ts";
import { checkText, InvalidError } from "../errors.ts";
import { refuseUrl, type WebhookReach } from "./addresses.ts";

/** The rules for Slack URLs are those for webhooks. */
export function slackReach(allowPrivate: boolean): WebhookReach {
  return { allowPrivate, insecureHttp: false };
}

export function isSlackTarget(target: string): boolean {
  return /^https?:\/\//i.test(target);
}

export function checkDigestTarget(target: string, allowPrivate: boolean): void {
  if (isSlackTarget(target)) {
    checkText("target", target);
    const refusal = refuseUrl(target, slackReach(allowPrivate), []);
    if (refusal !== null) throw new InvalidError({ target: [`is not allowed: ${refusal.message}`] });
    return;
  }
  const problem = emailProblem(target);
  if (problem !== null) throw new InvalidError({ target: [problem] });
}

/** Shows only `https://hooks.slack.com/…wxyz`, because anyone who has the whole URL can post there. */
export function shownTarget(target: string): string {
  return isSlackTarget(target) ? `${new URL(target).origin}/…${target.slice(-4)}` : target;
}
