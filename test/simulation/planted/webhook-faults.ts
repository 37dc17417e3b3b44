/** Faults in webhooks. */
import type { recordAttempt } from "../../../src/service/domain/webhooks/attempts.ts";
import type { noteEvent } from "../../../src/service/domain/webhooks/events.ts";
import type { signedHeaders } from "../../../src/service/webhook/sign.ts";
import { fault } from "./plant.ts";

const ATTEMPTS = "service/domain/webhooks/attempts.ts";

export const WEBHOOK_FAULTS = [
  fault<typeof noteEvent>(
    "a changed answer makes no event",
    ["service/domain/webhooks/events.ts", "noteEvent"],
    (original) => async (tx, project, event) => {
      if (event.type !== "survey_response.updated") await original(tx, project, event);
    },
  ),
  fault<typeof recordAttempt>(
    "that an event was taken is not recorded",
    [ATTEMPTS, "recordAttempt"],
    (original) => (tx, webhook, event, end, fraction) =>
      end.status === 200
        ? original(tx, webhook, event, { ...end, status: 500 }, fraction)
        : original(tx, webhook, event, end, fraction),
  ),
  fault<typeof recordAttempt>(
    "an event is given up after its first failure",
    [ATTEMPTS, "recordAttempt"],
    (original) => async (tx, webhook, event, end, fraction) => {
      const meaning = await original(tx, webhook, event, end, fraction);
      if (meaning.kind !== "retry") return meaning;
      await tx.webhooks.settle(webhook.project.id, webhook.id, event, { state: "failed", attempts: 1, dueAt: null });
      return { kind: "failed" };
    },
  ),
  fault<typeof signedHeaders>(
    "an event is signed without its last byte",
    ["service/webhook/sign.ts", "signedHeaders"],
    (original) =>
      (webhook, { eventId, body }, now) =>
        original(webhook, { eventId, body: body.slice(0, -1) }, now),
  ),
];
