/** The commands of `service webhook`, and their answers. */
import { type WebhookEvent, type WebhookFormat, type WebhookState } from "../../domain/webhooks/webhook-rows.ts";

export type WebhookCommand =
  | {
      readonly kind: "webhook.add";
      readonly project: string;
      readonly url: string;
      /** Absent: one is made. */
      readonly secret?: string;
      readonly signatureHeader?: string;
      readonly allowPrivate: boolean;
      readonly insecureHttp: boolean;
      /** Absent: all. */
      readonly events?: readonly WebhookEvent[];
      readonly scores?: { readonly from: number; readonly to: number };
      readonly format: WebhookFormat;
    }
  | { readonly kind: "webhook.list"; readonly project: string }
  | { readonly kind: "webhook.remove"; readonly project: string; readonly id: string }
  | { readonly kind: "webhook.enable"; readonly project: string; readonly id: string }
  | {
      readonly kind: "webhook.rotate";
      readonly project: string;
      readonly id: string;
      readonly overlapSeconds: number;
    }
  /** Sends an event at once and waits for the answer. */
  | { readonly kind: "webhook.test"; readonly project: string; readonly id: string }
  /** One page, newest first. `before` is the `next` of the page before. */
  | {
      readonly kind: "webhook.deliveries";
      readonly project: string;
      readonly id: string;
      readonly failed: boolean;
      readonly before?: string;
      readonly limit: number;
    }
  /** With neither: what has failed for good. */
  | {
      readonly kind: "webhook.redeliver";
      readonly project: string;
      readonly id: string;
      readonly since?: number;
      readonly event?: string;
    };

export interface WebhookInfo {
  readonly id: string;
  readonly url: string;
  readonly state: "enabled" | "failing" | "disabled";
  /** The reason why it is disabled; null while it is not. */
  readonly reason: string | null;
  readonly events: readonly WebhookEvent[];
  /** `0-6`; null for all. */
  readonly scores: string | null;
  readonly format: WebhookFormat;
  readonly signature_header: string;
  /** Events that are still to be delivered. */
  readonly waiting: number;
  /** Events that were not delivered in any attempt. */
  readonly failed: number;
  /** Events that came when it had been disabled for more than 7 days. */
  readonly missed: number;
  readonly created_at: number;
  readonly last_delivered_at: number | null;
  readonly failing_since: number | null;
  readonly disabled_at: number | null;
}

export interface WebhookSecretInfo {
  readonly id: string;
  readonly url: string;
  readonly secret: string;
  /** Until when the previous secret signs, too. */
  readonly previous_until: number | null;
}

interface WebhookTestInfo {
  readonly id: string;
  readonly event_id: string;
  readonly delivered: boolean;
  readonly status: number | null;
  readonly ms: number;
  readonly text: string;
}

export interface WebhookDeliveryInfo {
  readonly event_id: string;
  readonly event_type: WebhookEvent;
  readonly state: WebhookState;
  readonly attempts: number;
  readonly created_at: number;
  readonly due_at: number | null;
  /** Of the last attempt. */
  readonly attempted_at: number | null;
  readonly status: number | null;
  readonly ms: number | null;
  readonly text: string | null;
  readonly log: readonly {
    readonly n: number;
    readonly at: number;
    readonly status: number | null;
    readonly ms: number;
    readonly text: string;
  }[];
}

export interface WebhookResults {
  "webhook.add": WebhookSecretInfo;
  "webhook.list": readonly WebhookInfo[];
  "webhook.remove": { readonly id: string; readonly dropped: number };
  "webhook.enable": WebhookInfo;
  "webhook.rotate": WebhookSecretInfo;
  "webhook.test": WebhookTestInfo;
  "webhook.deliveries": { readonly rows: readonly WebhookDeliveryInfo[]; readonly next: string | null };
  "webhook.redeliver": { readonly id: string; readonly redelivered: number };
}
