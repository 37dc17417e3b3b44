/** What operators see of deliveries, and how they stop and resume them. */
import type { Channel } from "../../../contract/routes.ts";
import type { Project } from "../inputs.ts";
import type { AttemptRow, DeliveryRow, DeliveryState, PersonRow, Suppression, Transaction } from "../ports.ts";
import { nextDueAt } from "./deliveries.ts";

export const DELIVERY_STATES: readonly DeliveryState[] = [
  "scheduled",
  "claimed",
  "transmitting",
  "sent",
  "retrying",
  "held",
  "unknown",
  "bounced",
  "failed",
  "cancelled",
];

const WAITING: readonly DeliveryState[] = ["scheduled", "claimed", "transmitting", "retrying", "held"];

export interface QueueSummary {
  /** How many surveys of all projects are in each state. */
  readonly states: Readonly<Record<DeliveryState, number>>;
  /** The same of those that are still to be sent. */
  readonly waiting: Readonly<Partial<Record<DeliveryState, number>>>;
  readonly unknown: number;
  /** When the survey that has waited longest was due; null when none waits, or all is paused. */
  readonly oldestDueAt: number | null;
  /** 0 when nothing is due. */
  readonly oldestDueSeconds: number;
}

/** Out of counts that are kept and the first entries of indexes: its cost does not grow with the queue. */
export async function summarizeQueue(tx: Transaction): Promise<QueueSummary> {
  const states = Object.fromEntries(DELIVERY_STATES.map((state) => [state, 0])) as Record<DeliveryState, number>;
  for (const { state, count } of await tx.deliveries.counts()) states[state] += count;
  const dueAt = await nextDueAt(tx);
  const oldestDueAt = dueAt !== null && dueAt <= tx.now ? dueAt : null;
  return {
    states,
    waiting: Object.fromEntries(WAITING.map((state) => [state, states[state]])),
    unknown: states.unknown,
    oldestDueAt,
    oldestDueSeconds: oldestDueAt === null ? 0 : tx.now - oldestDueAt,
  };
}

/** All that decides whether a person gets mail, and what became of each survey. */
export interface PersonHistory {
  /** Null when there is none; the address may be suppressed nevertheless. */
  readonly person: PersonRow | null;
  readonly suppressions: readonly Suppression[];
  /** Newest first. */
  readonly surveys: readonly (DeliveryRow & { readonly log: readonly AttemptRow[] })[];
}

const SURVEYS_SHOWN = 50;
const ATTEMPTS_SHOWN = 20;

/** The last 50 surveys of the person with this address, and the last 20 attempts of each. */
export async function explainPerson(tx: Transaction, project: Project, email: string): Promise<PersonHistory> {
  const channel: Channel = "email";
  const suppressions = await tx.suppressions.list(project.id, channel, email);
  const person = await tx.people.byEmail(project.id, email);
  if (person === null) return { person, suppressions, surveys: [] };
  const surveys = [];
  for (const survey of await tx.deliveries.ofPerson(project.id, person.id, SURVEYS_SHOWN))
    surveys.push({ ...survey, log: await tx.deliveries.attempts(project.id, survey.requestId, ATTEMPTS_SHOWN) });
  return { person, suppressions, surveys };
}

/** Stops or resumes sending for one project, or with null for all, also those that are made later. */
export async function setPaused(tx: Transaction, project: Project | null, isPaused: boolean): Promise<void> {
  const at = isPaused ? tx.now : null;
  if (project === null) await tx.deliveries.setPaused(at);
  else await tx.projects.setPaused(project.id, at);
}

const ATTEMPTS_KEPT_SECONDS = 90 * 86_400;

/** Forgets attempts of more than 90 days ago, some at a time. Whether there may be more. */
export async function pruneAttempts(tx: Transaction, limit: number): Promise<boolean> {
  return (await tx.deliveries.pruneAttempts(tx.now - ATTEMPTS_KEPT_SECONDS, limit)) === limit;
}
