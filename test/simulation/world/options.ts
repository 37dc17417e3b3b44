/** What a seed decides about its world before it starts. */
import { firstHour, type Window, WINDOWS } from "./calendar.ts";
import { type Chance, createChance } from "./chance.ts";

/** Kinds of faults for `--faults`. */
export const FAULT_KINDS = ["mail", "texts", "webhooks", "kill", "power", "disk", "database", "clock"] as const;
export type FaultKind = (typeof FAULT_KINDS)[number];

export interface RunOptions {
  readonly seed: number;
  readonly days: number;
  readonly faults: readonly FaultKind[];
  /** URL of a database used only by this world; null for a simulated data file. */
  readonly database: string | null;
}

export interface WorldOptions extends RunOptions {
  /** In Unix milliseconds. */
  readonly startMs: number;
  /** From this time on, nothing new happens and there are no faults. */
  readonly calmMs: number;
  readonly endMs: number;
  /** How often the service's idle loops wake. */
  readonly napMs: number;
  /** One of these wake-ups. It falls into the window even when daylight saving time changes. */
  readonly wakeMs: number;
  readonly projects: number;
  /** People per project. */
  readonly people: number;
  /** Minimum seconds between two surveys to a person; null for no throttling. */
  readonly throttleSeconds: number | null;
  readonly hasTexts: boolean;
  /** Seconds between two Autopilot surveys; null if Autopilot is off. */
  readonly autopilotSeconds: number | null;
  readonly onUnknown: "hold" | "resend";
  readonly connections: number;
  readonly maxAgeSeconds: number | null;
  /** IANA name. */
  readonly zone: string;
  /** When Autopilot surveys and reminders may be sent. */
  readonly window: Window;
  readonly first: "spread" | "now";
  /** Surveys and reminders per project and day; null for no limit. */
  readonly dailyLimit: number | null;
  /** Seconds between a survey and its reminder; null for no reminders. */
  readonly reminderSeconds: number | null;
  /** Number of bursts of random actions. */
  readonly bursts: number;
}

const DAY_MS = 86_400_000;
/** Faults and new actions end this many days before the end, so that everything due can finish. */
const CALM_DAYS = 5;

export function chooseOptions(run: RunOptions): WorldOptions {
  const chance: Chance = createChance(run.seed, "options");
  const startMs = Date.UTC(2026, 0, 1) + chance.whole(0, 365) * DAY_MS + chance.whole(0, DAY_MS - 1);
  const endMs = startMs + run.days * DAY_MS;
  const options = chooseRest(chance);
  const { window, zone } = options;
  return {
    ...run,
    ...options,
    startMs,
    endMs,
    calmMs: endMs - Math.min(CALM_DAYS, run.days / 2) * DAY_MS,
    wakeMs: firstHour(startMs, window.from + 1, zone),
  };
}

type Rest = Omit<WorldOptions, keyof RunOptions | "startMs" | "calmMs" | "endMs" | "wakeMs">;

function chooseRest(chance: Chance): Rest {
  return {
    napMs: chance.pick([12, 24, 24, 24]) * 3_600_000,
    projects: chance.pick([1, 1, 2, 3]),
    people: chance.whole(2, 8),
    throttleSeconds: chance.pick([null, 86_400, 5 * 86_400]),
    hasTexts: chance.happens(0.5),
    autopilotSeconds: chance.pick([null, 3 * 86_400, 7 * 86_400, 15 * 86_400]),
    onUnknown: chance.happens(0.2) ? "resend" : "hold",
    connections: chance.whole(1, 4),
    maxAgeSeconds: chance.pick([null, null, 2 * 86_400]),
    bursts: chance.whole(8, 24),
    zone: chance.pick(["UTC", "Europe/Berlin", "America/New_York"]),
    window: chance.pick(WINDOWS),
    first: chance.pick(["spread", "now"]),
    dailyLimit: chance.pick([null, null, 2, 5]),
    reminderSeconds: chance.pick([null, 3600, 86_400, 2 * 86_400]),
  };
}
