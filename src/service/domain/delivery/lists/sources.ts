/** Sources of a list of deliveries, each ordered by an index. */
import type { SurveyStatusName } from "../../../../contract/text/survey-status.ts";
import type { Project, TimeRange } from "../../inputs.ts";
import type { DeliveryRow, DuePage, SurveysAt, Transaction, UnscheduledRow } from "../../ports.ts";
import { DELIVERY_STATES, WINDOW_REASON } from "../queue-rows.ts";
import type { ListedReason, ListedState } from "./listed.ts";

export interface ListedDelivery {
  readonly id: number;
  readonly channel: string;
  readonly email: string | null;
  readonly phoneNumber: string | null;
  readonly state: ListedState;
  readonly reason: string | null;
  /** The sort key: the scheduled time or, for unscheduled requests, the time of the request. */
  readonly at: number;
  readonly dueAt: number;
  readonly sentAt: number | null;
  readonly attempts: number;
}

export interface DeliverySelection {
  readonly state: ListedState | null;
  readonly reason: ListedReason | null;
  readonly personId: number | null;
}

export interface Source {
  readonly state: ListedState;
  readonly list: (page: DuePage) => Promise<readonly ListedDelivery[]>;
  readonly count: (range: TimeRange) => Promise<number>;
}

interface Holds {
  readonly now: number;
  readonly isPaused: boolean;
  readonly isLimited: boolean;
}

/** Without a state or reason, lists only surveys, not reminders or unscheduled requests. */
export async function openSources(
  tx: Transaction,
  project: Project,
  selection: DeliverySelection,
): Promise<readonly Source[]> {
  const { limitedUntil = null } = (await tx.projects.byId(project.id)) ?? {};
  const isPaused = (await tx.senders.pausedSince(project.id)) !== null;
  const holds = { now: tx.now, isPaused, isLimited: limitedUntil !== null && limitedUntil > tx.now };
  const { personId, state, reason } = selection;
  const open: Opener = {
    surveys: (at) => ({
      state: at.state === "paused" ? "scheduled" : at.state,
      list: async (page) =>
        (await tx.deliveries.listBySchedule(project.id, { ...at, personId }, page)).map((row) =>
          at.isReminder === true ? toListedReminder(row, holds) : toListed(row, holds),
        ),
      count: (range) => tx.deliveries.countBySchedule(project.id, { ...at, personId }, range),
    }),
    unscheduled: (name) => ({
      state: "not_scheduled",
      list: async (page) =>
        (await tx.unscheduled.list(project.id, { reason: name, personId }, page)).map(toListedUnscheduled),
      count: (range) => tx.unscheduled.count(project.id, { reason: name, personId }, range),
    }),
  };
  const sources = reason === null ? sourcesOfState(state, open) : sourcesOfReason(reason, open, holds);
  return sources.filter((source) => state === null || source.state === state);
}

interface Opener {
  readonly surveys: (at: Omit<SurveysAt, "personId">) => Source;
  readonly unscheduled: (name: SurveyStatusName) => Source;
}

const UNSCHEDULED_NAMES = ["throttled", "pending", "unsubscribed", "bounced", "unreachable"] as const;

function sourcesOfState(state: ListedState | null, { surveys, unscheduled }: Opener): readonly Source[] {
  if (state === "not_scheduled") return UNSCHEDULED_NAMES.map(unscheduled);
  const sources = [...DELIVERY_STATES, "paused" as const].map((one) => surveys({ state: one }));
  // Reminders are only listed while they are held.
  return state === "held" ? [...sources, surveys({ state, isReminder: true })] : sources;
}

const WAITING = ["scheduled", "retrying"] as const;

function sourcesOfReason(
  reason: ListedReason,
  { surveys, unscheduled }: Opener,
  { now, isPaused, isLimited }: Holds,
): readonly Source[] {
  const due = WAITING.map((state) => surveys({ state, dueBy: now }));
  switch (reason) {
    case "throttled":
    case "pending":
      return [unscheduled(reason)];
    case "unsubscribed":
      return [unscheduled(reason), surveys({ state: "cancelled", reason })];
    case "bounced":
      return [unscheduled(reason), surveys({ state: "cancelled", reason }), surveys({ state: "bounced" })];
    case "paused":
      return [surveys({ state: "paused" }), ...(isPaused ? due : [])];
    case "limit":
      return isLimited && !isPaused ? due : [];
    default:
      return WAITING.map((state) => surveys({ state, reason: WINDOW_REASON }));
  }
}

function toListedReminder(row: DeliveryRow, holds: Holds): ListedDelivery {
  return { ...toListed(row, holds), channel: row.channel === "sms" ? "sms-reminder" : "reminder" };
}

export function inOrder(rows: readonly ListedDelivery[], order: DuePage["order"]): ListedDelivery[] {
  const sign = order === "asc" ? 1 : -1;
  return rows.toSorted((left, right) => sign * (left.at - right.at || left.id - right.id));
}

function toListed(row: DeliveryRow, { now, isPaused, isLimited }: Holds): ListedDelivery {
  const { requestId: id, channel, email, phoneNumber, state, dueAt, scheduledAt, sentAt, attempts } = row;
  const isDue = (state === "scheduled" || state === "retrying") && dueAt <= now && row.reason === null;
  const held = isPaused ? "paused" : isLimited ? "limit" : null;
  const reason = row.isAutopilotPaused ? "paused" : isDue ? held : row.reason;
  return { id, channel, email, phoneNumber, state, reason, at: scheduledAt, dueAt, sentAt, attempts };
}

function toListedUnscheduled({ id, channel, email, phoneNumber, at, status }: UnscheduledRow): ListedDelivery {
  const unsent = { state: "not_scheduled", sentAt: null, attempts: 0 } as const;
  return { id, channel, email, phoneNumber, at, dueAt: at, reason: status.status, ...unsent };
}
