/** The targets of digests: addresses for mail, and incoming webhooks of Slack, whose URL is a secret. */
import { emailProblem } from "../../../contract/text/email.ts";
import { InvalidError } from "../errors.ts";
import { refuseUrl } from "./addresses.ts";

/** Whoever looks after the data names the URL: it may be one of their own network. */
export const SLACK_REACH = { allowPrivate: true, insecureHttp: false } as const;

export function isSlackTarget(target: string): boolean {
  return /^https?:\/\//i.test(target);
}

export function checkDigestTarget(target: string): void {
  if (isSlackTarget(target)) {
    const refusal = refuseUrl(target, SLACK_REACH, []);
    if (refusal !== null) throw new InvalidError({ url: [refusal.message] });
    return;
  }
  const problem = emailProblem(target);
  if (problem !== null) throw new InvalidError({ email: [problem] });
}

/** `https://hooks.slack.com/…wxyz`: whoever has the whole URL can write there. */
export function shownTarget(target: string): string {
  return isSlackTarget(target) ? `${new URL(target).origin}/…${target.slice(-4)}` : target;
}
