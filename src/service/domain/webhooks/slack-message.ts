import { scoreCategory } from "../../../contract/limits.ts";
import type { SurveyResponse, Unsubscribe } from "../../../contract/resources.ts";
import type { WebhookEvent } from "./webhook.ts";

/** Slack's own limit is 3,000 characters per text element. */
const TEXT_MAX = 2_000;

export type ResponseData = Omit<SurveyResponse, "person"> & {
  readonly person: { readonly id: string; readonly email: string | null; readonly name: string | null };
};

/** Text written by people goes into plain-text elements, which have no formatting, links or mentions. */
export function slackMessage(type: WebhookEvent, data: ResponseData | Unsubscribe): string {
  if (!("score" in data)) {
    const who = displayName(data);
    return message(`${who} unsubscribed`, [section("*Unsubscribed from surveys*"), plainSection(who)]);
  }
  const verb = type === "survey_response.created" ? "New answer" : "Changed answer";
  const who = displayName(data.person);
  const title = `${verb}: ${data.score} out of 10 (${scoreCategory(data.score)})`;
  const { comment, permalink } = data;
  return message(`${title} from ${who}`, [
    section(`*${title}*`),
    plainSection(who),
    ...(comment === null || comment === "" ? [] : [quote(comment)]),
    { type: "context", elements: [formatted(`<${escape(permalink)}|Open the response>`)] },
  ]);
}

function message(text: string, blocks: readonly object[]): string {
  return JSON.stringify({ text: escape(text), mrkdwn: false, parse: "none", blocks });
}

/** Only for our own text, because Slack interprets markup in it. `verbatim` prevents automatic links. */
function formatted(text: string): object {
  return { type: "mrkdwn", text, verbatim: true };
}

function section(text: string): object {
  return { type: "section", text: formatted(text) };
}

function plainSection(text: string): object {
  return { type: "section", text: { type: "plain_text", text: shorten(text), emoji: false } };
}

function quote(comment: string): object {
  return {
    type: "rich_text",
    elements: [{ type: "rich_text_quote", elements: [{ type: "text", text: shorten(comment) }] }],
  };
}

function displayName({ name, email }: { readonly name: string | null; readonly email: string | null }): string {
  return (name === null || name === "" ? email : name) ?? "somebody";
}

function shorten(text: string): string {
  if (text.length <= TEXT_MAX) return text;
  return `${text.slice(0, TEXT_MAX).replace(/[\uD800-\uDBFF]$/, "")} …`;
}

/** Slack treats only these characters specially. */
function escape(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}
