import { DELIVERY_STATES } from "../queue-rows.ts";

/** States of surveys, and of requests that weren't scheduled. */
export const LISTED_STATES = [...DELIVERY_STATES, "not_scheduled"] as const;
export type ListedState = (typeof LISTED_STATES)[number];

/** Why a survey isn't sent, or not yet: `limit` waits for the daily limit, `window` for Autopilot's hours. */
export const LISTED_REASONS = ["throttled", "pending", "unsubscribed", "bounced", "paused", "limit", "window"] as const;
export type ListedReason = (typeof LISTED_REASONS)[number];
