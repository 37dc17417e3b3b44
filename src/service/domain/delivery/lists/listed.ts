/** The states and reasons that lists of deliveries know. */
import { DELIVERY_STATES } from "../queue-rows.ts";

/** States of surveys, and of one that was asked for and not scheduled. */
export const LISTED_STATES = [...DELIVERY_STATES, "not_scheduled"] as const;
export type ListedState = (typeof LISTED_STATES)[number];

/**
 * The reason why a survey is not sent, or not yet: `limit` waits for a day's limit, `window` for the hours in which
 * Autopilot surveys.
 */
export const LISTED_REASONS = ["throttled", "pending", "unsubscribed", "bounced", "paused", "limit", "window"] as const;
export type ListedReason = (typeof LISTED_REASONS)[number];
