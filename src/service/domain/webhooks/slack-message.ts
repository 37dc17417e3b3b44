/** An event as a message in Slack's Block Kit. */
import { scoreCategory } from "../../../contract/limits.ts";
import type { SurveyResponse, Unsubscribe } from "../../../contract/resources.ts";
import type { WebhookEvent } from "./webhook.ts";

/** An element's text may have 3,000 characters. */
const TEXT_MAX = 2_000;

/** A response with its person expanded. */
export type ResponseData = Omit<SurveyResponse, "person"> & {
  readonly person: { readonly id: string; readonly email: string | null; readonly name: string | null };
};

/**
 * The JSON body that an incoming webhook of Slack takes. What people wrote is in elements of plain text alone, where
 * nothing is formatted, nothing becomes a link and nobody is called.
 */
export function slackMessage(type: WebhookEvent, data: ResponseData | Unsubscribe): string {
  if (!("score" in data)) {
    const who = nameOf(data);
    return message(`${who} unsubscribed`, [section("*Unsubscribed from surveys*"), plainSection(who)]);
  }
  const verb = type === "survey_response.created" ? "New answer" : "Changed answer";
  const who = nameOf(data.person);
  const title = `${verb}: ${data.score} out of 10 (${scoreCategory(data.score)})`;
  const { comment, permalink } = data;
  return message(`${title} from ${who}`, [
    section(`*${title}*`),
    plainSection(who),
    ...(comment === null || comment === "" ? [] : [quote(comment)]),
    { type: "context", elements: [formatted(`<${escape(permalink)}|Open the response>`)] },
  ]);
}

/** `text` is what notifications show. */
function message(text: string, blocks: readonly object[]): string {
  return JSON.stringify({ text: escape(text), mrkdwn: false, parse: "none", blocks });
}

/** Our own words: Slack makes links of nothing that is not written as one. */
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

function nameOf({ name, email }: { readonly name: string | null; readonly email: string | null }): string {
  return (name === null || name === "" ? email : name) ?? "somebody";
}

function shorten(text: string): string {
  if (text.length <= TEXT_MAX) return text;
  // A pair of surrogates is not split.
  return `${text.slice(0, TEXT_MAX).replace(/[\uD800-\uDBFF]$/, "")} …`;
}

/** Slack reads these three, and nothing else, as its own. */
function escape(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}
