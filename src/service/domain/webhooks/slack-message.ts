/** An event as a message in Slack's Block Kit. */
import type { SurveyResponse, Unsubscribe } from "../../../contract/resources.ts";
import type { WebhookEvent } from "./webhook-rows.ts";

/** A section's text may have 3,000 characters, with what is escaped. */
const COMMENT_MAX = 2_000;

/** A response with its person expanded. */
export type ResponseData = Omit<SurveyResponse, "person"> & {
  readonly person: { readonly id: string; readonly email: string | null; readonly name: string | null };
};

/** The JSON body that an incoming webhook of Slack takes. */
export function slackMessage(type: WebhookEvent, data: ResponseData | Unsubscribe): string {
  if (!("score" in data)) {
    const who = nameOf(data);
    return message(`${who} unsubscribed`, [section(`*${escape(who)}* unsubscribed from surveys.`)]);
  }
  const verb = type === "survey_response.created" ? "New answer" : "Changed answer";
  const who = nameOf(data.person);
  const title = `${verb}: ${data.score} out of 10 (${groupOf(data.score)})`;
  const { comment, permalink } = data;
  return message(`${title} from ${who}`, [
    section(`*${title}*\n${escape(who)}`),
    ...(comment === null || comment === "" ? [] : [section(quote(shorten(comment)))]),
    { type: "context", elements: [{ type: "mrkdwn", text: `<${permalink}|Open the response>` }] },
  ]);
}

function message(text: string, blocks: readonly object[]): string {
  return JSON.stringify({ text: escape(text), blocks });
}

function section(text: string): object {
  return { type: "section", text: { type: "mrkdwn", text } };
}

function nameOf({ name, email }: { readonly name: string | null; readonly email: string | null }): string {
  return (name === null || name === "" ? email : name) ?? "somebody";
}

function groupOf(score: number): string {
  if (score >= 9) return "promoter";
  return score >= 7 ? "passive" : "detractor";
}

function shorten(text: string): string {
  if (text.length <= COMMENT_MAX) return text;
  // A pair of surrogates is not split.
  return `${text.slice(0, COMMENT_MAX).replace(/[\uD800-\uDBFF]$/, "")} …`;
}

function quote(text: string): string {
  const lines = text.split(/\r?\n/).map((line) => `> ${escape(line)}`);
  const [whole, limit] = [lines.join("\n"), 2_900];
  return whole.length <= limit ? whole : `${whole.slice(0, limit).replace(/&[a-z]*$/, "")} …`;
}

/** Slack reads these three, and nothing else, as its own. */
function escape(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}
