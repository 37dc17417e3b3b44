import type { Channel } from "../../../contract/routes.ts";

/** Why an address is not written to: its owner left by link or API, it refused a message for good, or a text said STOP. */
export type SuppressionReason = "unsubscribe" | "bounce" | "stop";

export interface Suppression {
  readonly reason: SuppressionReason;
  /** When it began, Unix seconds. */
  readonly at: number;
}

/**
 * Addresses that are not written to on a channel. Kept as keyed hashes: whoever reads the file learns of an address
 * only by knowing it already. They outlive the person they were made for.
 */
export interface SuppressionRows {
  /** The first one of each reason stands; a repeat changes nothing. */
  add(project: number, channel: Channel, address: string, suppression: Suppression): Promise<void>;
  list(project: number, channel: Channel, address: string): Promise<readonly Suppression[]>;
}
