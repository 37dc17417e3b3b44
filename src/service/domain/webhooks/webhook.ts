import type { ScoreSpan } from "../../../contract/text/score-span.ts";
import type { Project } from "../inputs.ts";

export const WEBHOOK_EVENTS = ["survey_response.created", "survey_response.updated", "unsubscribe.created"] as const;
export type WebhookEvent = (typeof WEBHOOK_EVENTS)[number];

export const WEBHOOK_FORMATS = ["json", "slack"] as const;
type WebhookFormat = (typeof WEBHOOK_FORMATS)[number];

export interface NewWebhook {
  readonly url: string;
  readonly secret: string;
  readonly signatureHeader: string;
  readonly allowPrivate: boolean;
  readonly insecureHttp: boolean;
  readonly events: readonly WebhookEvent[];
  /** Only responses with these scores are sent; null for all. Unsubscribes have no score and are always sent. */
  readonly scores: ScoreSpan | null;
  readonly format: WebhookFormat;
}

/** Settings that can be changed. The format can't, because pending events are already formatted. */
export type WebhookSettings = Omit<NewWebhook, "url" | "secret" | "format">;

interface WebhookHealth {
  readonly disabledAt: number | null;
  readonly disabledReason: string | null;
  /** When the current series of failures began; null if the last attempt succeeded. */
  readonly failingSince: number | null;
  /** Number of consecutive responses that say the endpoint is overloaded. */
  readonly strikes: number;
  /** Nothing is sent before this time; null if there is no pause. */
  readonly slowUntil: number | null;
  readonly lastDeliveredAt: number | null;
}

export interface WebhookRow extends NewWebhook, WebhookHealth {
  readonly project: Project;
  readonly id: number;
  readonly createdAt: number;
  /** Events are also signed with this secret until `previousUntil`. */
  readonly previousSecret: string | null;
  readonly previousUntil: number | null;
  /** Number of events that occurred after the webhook had been disabled for too long. */
  readonly missed: number;
}

export type WebhookChange = Partial<
  WebhookHealth & Pick<WebhookRow, "secret" | "previousSecret" | "previousUntil" | "missed">
>;

export interface NewEvent {
  readonly eventId: string;
  readonly type: WebhookEvent;
  readonly personId: number;
  readonly json: string | null;
  readonly slack: string | null;
}

export type WebhookState = "waiting" | "delivered" | "failed";

export interface DueEvent {
  readonly event: number;
  readonly eventId: string;
  readonly personId: number;
  readonly attempts: number;
  readonly body: string;
}

export interface WebhookAttempt {
  readonly n: number;
  readonly at: number;
  readonly status: number | null;
  readonly ms: number;
  /** The first kilobyte of the response, or the error. */
  readonly text: string;
}

export interface WebhookDelivery {
  readonly event: number;
  readonly eventId: string;
  readonly type: WebhookEvent;
  readonly state: WebhookState;
  readonly attempts: number;
  readonly createdAt: number;
  readonly dueAt: number | null;
  readonly log: readonly WebhookAttempt[];
}

export type Redelivery =
  | { readonly which: "failed" }
  | { readonly which: "since"; readonly since: number }
  | { readonly which: "event"; readonly eventId: string };
