import type { ScoreSpan } from "../../../contract/text/score-span.ts";
import type { Project } from "../inputs.ts";

export const WEBHOOK_EVENTS = ["survey_response.created", "survey_response.updated", "unsubscribe.created"] as const;
export type WebhookEvent = (typeof WEBHOOK_EVENTS)[number];

export const WEBHOOK_FORMATS = ["json", "slack"] as const;
export type WebhookFormat = (typeof WEBHOOK_FORMATS)[number];

export interface NewWebhook {
  readonly url: string;
  /** The key of the signatures, as it was printed. */
  readonly secret: string;
  readonly signatureHeader: string;
  readonly allowPrivate: boolean;
  readonly insecureHttp: boolean;
  readonly events: readonly WebhookEvent[];
  /** Responses with these scores alone; null for all. Unsubscribes have no score and always pass. */
  readonly scores: ScoreSpan | null;
  readonly format: WebhookFormat;
}

/** The fields of a webhook that may change: events that wait are written in one format. */
export type WebhookSettings = Omit<NewWebhook, "url" | "secret" | "format">;

interface WebhookHealth {
  readonly disabledAt: number | null;
  readonly disabledReason: string | null;
  /** When the first of the latest unbroken row of failures was; null while attempts succeed. */
  readonly failingSince: number | null;
  /** The times in a row that it asked to be left alone. */
  readonly strikes: number;
  /** Before this nothing is sent; null for no limit. */
  readonly slowUntil: number | null;
  readonly lastDeliveredAt: number | null;
}

export interface WebhookRow extends NewWebhook, WebhookHealth {
  readonly project: Project;
  readonly id: number;
  readonly createdAt: number;
  /** Signs as well as `secret` until `previousUntil`; null for none. */
  readonly previousSecret: string | null;
  readonly previousUntil: number | null;
  /** Events that came when it had been disabled for too long. */
  readonly missed: number;
}

export type WebhookChange = Partial<
  WebhookHealth & Pick<WebhookRow, "secret" | "previousSecret" | "previousUntil" | "missed">
>;

/** An event as it happened; the bodies are sent as they are, on every attempt. */
export interface NewEvent {
  readonly eventId: string;
  readonly type: WebhookEvent;
  readonly personId: number;
  /** Null when no endpoint takes it in this form. */
  readonly json: string | null;
  readonly slack: string | null;
}

export type WebhookState = "waiting" | "delivered" | "failed";

/** An event that is to be sent to an endpoint now. */
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
  /** Of HTTP; null when no answer came. */
  readonly status: number | null;
  readonly ms: number;
  /** The first kilobyte of the answer, or why there was none. */
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

/** Webhooks, their events and deliveries. */
