/** Webhook events, which are stored in the same transaction as the change that causes them. */
import { createHash } from "node:crypto";
import type { JsonObject } from "../../../contract/json.ts";
import type { Unsubscribe } from "../../../contract/resources.ts";
import { isInSpan } from "../../../contract/text/score-span.ts";
import type { Project } from "../inputs.ts";
import type { Transaction } from "../ports.ts";
import { signLink } from "../signed-links.ts";
import { type ResponseData, slackMessage } from "./slack-message.ts";
import type { WebhookRow } from "./webhook.ts";

export type DomainEvent =
  | { readonly type: "survey_response.created" | "survey_response.updated"; readonly responseId: number }
  | { readonly type: "unsubscribe.created"; readonly personId: number };

const COLLECT_SECONDS = 7 * 86_400;
const DATA_BYTES_MAX = 20_000;

/** Costs almost nothing in projects without webhooks. */
export async function noteEvent(tx: Transaction, project: Project, event: DomainEvent): Promise<void> {
  if (!(await tx.webhooks.any(project.id))) return;
  const interested = (await tx.webhooks.list(project.id)).filter(({ events }) => events.includes(event.type));
  if (interested.length === 0) return;
  const facts = await readFacts(tx, project, event);
  if (facts === null) return;
  const { score } = facts;
  const wanted = interested.filter(({ scores }) => scores === null || score === null || isInSpan(scores, score));
  const collecting = wanted.filter((webhook) => isCollecting(webhook, tx.now));
  for (const { id, missed } of wanted.filter((webhook) => !isCollecting(webhook, tx.now)))
    await tx.webhooks.change(project.id, id, { missed: missed + 1 });
  if (collecting.length === 0) return;
  const { type } = event;
  const eventId = createHash("sha256").update(tx.token()).digest("hex");
  const has = (format: WebhookRow["format"]): boolean => collecting.some((webhook) => webhook.format === format);
  const webhookEvent = {
    eventId,
    type,
    personId: facts.personId,
    json: has("json") ? eventBody(type, eventId, facts.data) : null,
    slack: has("slack") ? slackMessage(type, facts.data) : null,
  };
  await tx.webhooks.add(
    project.id,
    webhookEvent,
    collecting.map(({ id }) => id),
  );
}

function isCollecting({ disabledAt }: WebhookRow, now: number): boolean {
  return disabledAt === null || now - disabledAt <= COLLECT_SECONDS;
}

interface Facts {
  readonly personId: number;
  readonly score: number | null;
  readonly data: ResponseData | Unsubscribe;
}

/** Leaves only the token in `permalink`. The link is signed later, so that colleagues can open it without a key. */
const SHAPE = { expandPerson: true, expandNotes: true, permalinkPrefix: "" };

async function readFacts(tx: Transaction, project: Project, event: DomainEvent): Promise<Facts | null> {
  if (event.type === "unsubscribe.created") {
    const person = await tx.people.byId(project.id, event.personId);
    if (person === null) return null;
    const { id, email, name, unsubscribedAt } = person;
    const data = { person_id: String(id), email, name, unsubscribed_at: unsubscribedAt ?? tx.now };
    return { personId: id, score: null, data };
  }
  const json = await tx.responses.json(project.id, event.responseId, SHAPE);
  if (json === null) return null;
  const data = JSON.parse(json) as ResponseData;
  const permalink = tx.appUrl + (await signLink(tx, `/r/${data.permalink}`));
  return { personId: Number(data.person.id), score: data.score, data: { ...data, permalink } };
}

/** The exact bytes that are signed and sent. They are never generated again, because receivers check the signature. */
export function eventBody(type: string, eventId: string, data: object): string {
  return `{"event_type":${JSON.stringify(type)},"event_id":${JSON.stringify(eventId)},"event_data":${limitData(data)}}`;
}

/** Fields that can be large, and their replacements if shortening the comment isn't enough. */
const LARGE: readonly (readonly [string, unknown])[] = [
  ["person_properties", {}],
  ["notes", []],
  ["additional_answers", []],
  ["tags", []],
];

/** Returns at most 20,000 bytes of JSON, and marks everything that was cut. */
function limitData(data: object): string {
  let limited = data as JsonObject;
  let json = JSON.stringify(limited);
  const excess = (): number => Buffer.byteLength(json) - DATA_BYTES_MAX;
  const { comment } = limited;
  if (excess() > 0 && typeof comment === "string") {
    const marked = { ...limited, comment: "", comment_truncated: true };
    const room = DATA_BYTES_MAX - Buffer.byteLength(JSON.stringify(marked));
    limited = { ...marked, comment: cutText(comment, Math.max(room, 0)) };
    json = JSON.stringify(limited);
  }
  for (const [name, rest] of LARGE) {
    if (excess() <= 0) break;
    limited = { ...limited, [name]: rest as JsonObject, [`${name}_truncated`]: true };
    json = JSON.stringify(limited);
  }
  return json;
}

/** The longest beginning of a text whose JSON has at most `bytes` bytes, not counting quotes. */
function cutText(text: string, bytes: number): string {
  const parts: string[] = [];
  let left = bytes;
  for (const character of text) {
    left -= Buffer.byteLength(JSON.stringify(character)) - 2;
    if (left < 0) break;
    parts.push(character);
  }
  return parts.join("");
}

const TEST_EVENT = "test";

export function testBody({ format }: Pick<WebhookRow, "format">, eventId: string, now: number): string {
  const person = { id: "0", email: "test@example.com", name: "Test", created_at: now, phone_number: null };
  const data = {
    id: "0",
    person,
    survey_type: "nps",
    score: 10,
    comment: "This is a test of a webhook.",
    permalink: "https://example.com/r/test",
    created_at: now,
    updated_at: now,
    person_properties: {},
    notes: [],
    tags: [],
    additional_answers: [],
  };
  return format === "slack" ? slackMessage("survey_response.created", data) : eventBody(TEST_EVENT, eventId, data);
}
