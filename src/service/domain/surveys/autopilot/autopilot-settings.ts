import type { Window } from "../windows.ts";

export interface AutopilotSettings {
  readonly active: boolean;
  /** Seconds between two surveys to one member. */
  readonly frequency: number;
  /** The place of a new member's first survey: spread over one frequency, or at the next open moment. */
  readonly first: "spread" | "now";
  readonly window: Window;
}
