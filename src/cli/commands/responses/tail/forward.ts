import { createHash } from "node:crypto";
import { RESPONSE_VERSIONS, changedAt } from "../export.ts";
import { RecentIds } from "../../../../bulk/export/lists.ts";
import type { JsonObject } from "../../../../contract/json.ts";
import { markLongNumbers, unmarkLongNumbers } from "../../../../contract/long-numbers.ts";
import { splitRowTexts } from "../../../../contract/row-texts.ts";
import type { RowPage } from "../../../../contract/row-page.ts";
import { unixSeconds } from "../../../../runtime/clock.ts";
import type { signedHeaders } from "../../../../service/webhook/sign.ts";
import type { EndpointTransport } from "../../../../service/webhook/transport.ts";
import type { Deps } from "../../../kit/deps.ts";
import { writeNote } from "../../../kit/notes.ts";
import { UsageError } from "../../../errors/usage-error.ts";
import { timeOf } from "../../../export/sources.ts";
import { type Resource, toResource } from "../../../render/columns.ts";

const FORWARDED: Resource = {
  ...toResource("events", {
    event_id: "id",
    event_type: "text",
    response_id: "id",
    score: "score",
    status: "number",
    attempts: "number",
    ms: "number",
    text: "text",
  }),
  table: ["response_id", "event_type", "score", "status", "ms", "text"],
  dropFirst: ["ms", "text"],
  flexible: "text",
};

export interface Forwarder {
  readonly resource: Resource;
  /** Remembers rows without sending them, so that a later version counts as changed, not as new. */
  know(page: RowPage): void;
  /**
   * Sends rows one after another and yields a row of output for each. Rejects if interrupted. Rows created before
   * `since` count as edited; `since` is null if all rows were read from the start.
   */
  send(page: RowPage, since: number | null): AsyncGenerator<RowPage>;
  close(): void;
}

/** Waits between attempts; together they are long enough for a receiver to restart. */
const RETRY_MS: readonly number[] = [1_000, 2_000, 4_000, 8_000, 15_000];
const RETRY_AFTER_MAX = 60;
const SECRET_BYTES = 32;

/**
 * If `given` is null, creates and shows a secret. Throws UsageError for URLs that webhooks may not use; private and
 * loopback addresses are allowed.
 */
export async function openForwarder(deps: Deps, url: string, given: string | null): Promise<Forwarder> {
  const [{ urlRefusal }, { EndpointTransport }, { formatSecret }, { refuseSecret, SIGNATURE_HEADER }] =
    await Promise.all([
      import("../../service/webhook.ts"),
      import("../../../../service/webhook/transport.ts"),
      import("../../../../service/domain/webhooks/webhooks.ts"),
      import("../../../../service/domain/webhooks/signature-settings.ts"),
    ]);
  const target = { url, allowPrivate: true, insecureHttp: deps.options.insecureHttp };
  const refusal = await urlRefusal(target, "--forward-to");
  if (refusal !== null) throw refusal;
  const badSecret = given === null ? null : refuseSecret(given);
  if (badSecret !== null) throw new UsageError(`--secret: ${badSecret}`);
  const secret = given ?? formatSecret(deps.random.token(SECRET_BYTES));
  if (given === null) await writeNote(deps, `signing with ${secret}; --secret uses another`);
  const transport = new EndpointTransport({ clock: deps.clock, own: () => [] }, 1);
  const webhook = { secret, previousSecret: null, previousUntil: null, signatureHeader: SIGNATURE_HEADER };
  return createForwarder(deps, { transport, target, webhook });
}

interface Sender {
  readonly transport: EndpointTransport;
  readonly target: Parameters<EndpointTransport["post"]>[0];
  readonly webhook: Parameters<typeof signedHeaders>[0];
}

function createForwarder(deps: Deps, sender: Sender): Forwarder {
  const recent = new RecentIds();
  const typeOf = (row: JsonObject, since: number | null): string => {
    const isFirst = recent.isNew(RESPONSE_VERSIONS.id(row));
    const createdAt = timeOf(row, "created_at") ?? 0;
    const isUnchanged = changedAt(row) === createdAt;
    return isFirst && (isUnchanged || createdAt >= (since ?? 0))
      ? "survey_response.created"
      : "survey_response.updated";
  };
  return {
    resource: FORWARDED,
    know: ({ rows }) => {
      for (const row of rows) recent.isNew(RESPONSE_VERSIONS.id(row));
    },
    async *send({ rows, text }, since) {
      const { eventBody } = await import("../../../../service/domain/webhooks/events.ts");
      for (const [index, rowText] of splitRowTexts(text).entries()) {
        const row = rows[index] ?? {};
        const type = typeOf(row, since);
        // The id depends only on the change, so receivers can drop repeats.
        const version = [type, RESPONSE_VERSIONS.id(row), changedAt(row), RESPONSE_VERSIONS.content(row)];
        const eventId = createHash("sha256").update(JSON.stringify(version)).digest("hex");
        const data = JSON.parse(markLongNumbers(rowText)) as JsonObject;
        const body = unmarkLongNumbers(eventBody(type, eventId, data));
        const { id: response_id = null, score = null } = row;
        const end = await sendOne(deps, sender, eventId, body);
        const shown = { event_id: eventId, event_type: type, response_id, score, ...end };
        yield { rows: [shown], text: JSON.stringify([shown]) };
      }
    },
    close: () => sender.transport.close(),
  };
}

async function sendOne(deps: Deps, { transport, target, webhook }: Sender, eventId: string, body: string) {
  const [{ isDelivered }, { signedHeaders }] = await Promise.all([
    import("../../../../service/domain/webhooks/attempts.ts"),
    import("../../../../service/webhook/sign.ts"),
  ]);
  for (let attempts = 1; ; attempts += 1) {
    const headers = signedHeaders(webhook, { eventId, body }, unixSeconds(deps.clock));
    const end = await transport.post(target, headers, body, deps.signal);
    if (end === null) throw deps.signal.reason;
    const { status, text, retryAfter } = end;
    const waitMs = RETRY_MS[attempts - 1];
    const mayHelp = status === null || status >= 500 || status === 408 || status === 429;
    if (waitMs === undefined || isDelivered(status) || !mayHelp)
      return { status, attempts, ms: Math.round(end.ms), text: isDelivered(status) ? "" : text };
    await deps.clock.sleep(Math.max(waitMs, Math.min(retryAfter ?? 0, RETRY_AFTER_MAX) * 1000), deps.signal);
  }
}
