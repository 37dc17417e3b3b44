import { DELIVERY_STATES } from "../queue-rows.ts";

/** States of surveys, and `not_scheduled` for requests without one. */
export const LISTED_STATES = [...DELIVERY_STATES, "not_scheduled"] as const;
export type ListedState = (typeof LISTED_STATES)[number];

/** Why a survey isn't sent, or not yet: `limit` is the daily limit, `window` is Autopilot's hours. */
export const LISTED_REASONS = ["throttled", "pending", "unsubscribed", "bounced", "paused", "limit", "window"] as const;
export type ListedReason = (typeof LISTED_REASONS)[number];
