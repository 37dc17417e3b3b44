/** The rows of webhooks: the endpoints, the events as they are sent, and the state of each delivery. */
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

export interface WebhookRows {
  /** True when the project has one at least. */
  any(project: number): Promise<boolean>;
  /** Of one project, or of all, in the order in which they were added. */
  list(project: number | null): Promise<readonly WebhookRow[]>;
  byId(project: number, id: number): Promise<WebhookRow | null>;
  insert(project: number, webhook: NewWebhook): Promise<WebhookRow>;
  change(project: number, id: number, change: WebhookChange): Promise<void>;
  configure(project: number, id: number, settings: WebhookSettings): Promise<void>;
  /** True when there was one; its deliveries are left to `prune`. */
  delete(project: number, id: number): Promise<boolean>;
  /** Writes an event for these endpoints of the project, due at once. */
  add(project: number, event: NewEvent, webhooks: readonly number[]): Promise<void>;
  /** The due events, the longest due first. */
  due(webhook: Pick<WebhookRow, "project" | "id" | "format">, limit: number): Promise<readonly DueEvent[]>;
  /** When the next becomes due after now; null when none does. */
  nextDueAt(project: number, id: number): Promise<number | null>;
  delivery(project: number, id: number, event: number): Promise<Pick<WebhookDelivery, "state" | "attempts"> | null>;
  settle(
    project: number,
    id: number,
    event: number,
    change: { readonly state: WebhookState; readonly attempts: number; readonly dueAt: number | null },
  ): Promise<void>;
  log(project: number, id: number, event: number, attempt: Omit<WebhookAttempt, "n">): Promise<void>;
  /** Newest first, those before `before`, each with its attempts. */
  deliveries(
    project: number,
    id: number,
    filter: { readonly failed: boolean; readonly before: number | null; readonly limit: number },
  ): Promise<readonly WebhookDelivery[]>;
  /**
   * Makes so many due now, as if never tried, those after the event `after` in the order in which they happened; their
   * events. Those that wait already stay as they are.
   */
  redeliver(
    project: number,
    id: number,
    which: Redelivery,
    page: { readonly after: number; readonly limit: number },
  ): Promise<readonly number[]>;
  /** The number of deliveries in each state, kept as they change. */
  counts(project: number, id: number): Promise<Readonly<Record<WebhookState, number>>>;
  /** When the longest due of an enabled endpoint was due; null when none is due. */
  oldestDueAt(): Promise<number | null>;
  /** Removes so many events from before `before`, and deliveries whose endpoint is gone. How many. */
  prune(before: number, limit: number): Promise<number>;
}
