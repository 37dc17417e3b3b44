/** Sources of a list of deliveries, each ordered by an index. */
import type { SurveyStatusName } from "../../../../contract/text/survey-status.ts";
import type { Project, TimeRange } from "../../inputs.ts";
import type { DeliveryRow, DuePage, SurveysAt, Transaction, UnscheduledRow } from "../../ports.ts";
import { DELIVERY_STATES, WINDOW_REASON } from "../queue-rows.ts";
import { LISTED_STATES, type ListedReason, type ListedState } from "./listed.ts";

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
  if (personId !== null) return personSources(tx, project, { ...selection, personId }, holds);
  const open: Opener = {
    surveys: (at) => ({
      state: "remindersOf" in at ? "held" : at.state === "paused" ? "scheduled" : at.state,
      list: async (page) =>
        (await tx.deliveries.listBySchedule(project.id, at, page)).map((row) =>
          "remindersOf" in at ? toListedReminder(row, holds) : toListed(row, holds),
        ),
      count: (range) => tx.deliveries.countBySchedule(project.id, at, range),
    }),
    unscheduled: (name) => ({
      state: "not_scheduled",
      list: async (page) => (await tx.unscheduled.list(project.id, name, page)).map(toListedUnscheduled),
      count: (range) => tx.unscheduled.count(project.id, name, range),
    }),
  };
  const sources = reason === null ? sourcesOfState(state, open) : sourcesOfReason(reason, open, holds);
  return sources.filter((source) => state === null || source.state === state);
}

/** Reminders are only listed while they are held. */
const HELD_REMINDERS = { remindersOf: null } as const;

interface Opener {
  readonly surveys: (at: SurveysAt | typeof HELD_REMINDERS) => Source;
  readonly unscheduled: (name: SurveyStatusName) => Source;
}

const UNSCHEDULED_NAMES = ["throttled", "pending", "unsubscribed", "bounced", "unreachable"] as const;

function sourcesOfState(state: ListedState | null, { surveys, unscheduled }: Opener): readonly Source[] {
  if (state === "not_scheduled") return UNSCHEDULED_NAMES.map(unscheduled);
  const sources = [...DELIVERY_STATES, "paused" as const].map((one) => surveys({ state: one }));
  return state === "held" ? [...sources, surveys(HELD_REMINDERS)] : sources;
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

const OF_PERSON_MAX = 5000;

async function personSources(
  tx: Transaction,
  project: Project,
  { personId, state, reason }: DeliverySelection & { readonly personId: number },
  holds: Holds,
): Promise<readonly Source[]> {
  const surveys = await tx.deliveries.ofPerson(project.id, personId, OF_PERSON_MAX);
  const unscheduled = await tx.unscheduled.ofPerson(project.id, personId, OF_PERSON_MAX);
  const isListed = state === "not_scheduled" || reason !== null;
  const all = { since: null, until: null, order: "asc", after: null, limit: OF_PERSON_MAX } as const;
  const which = { remindersOf: personId };
  const reminders = state === "held" ? await tx.deliveries.listBySchedule(project.id, which, all) : [];
  const rows = [
    ...surveys.map((row) => toListed(row, holds)),
    ...reminders.map((row) => toListedReminder(row, holds)),
    ...(isListed ? unscheduled.map(toListedUnscheduled) : []),
  ].filter(
    (row) =>
      (state === null || row.state === state) &&
      (reason === null || row.reason === reason || (reason === "bounced" && row.state === "bounced")),
  );
  return LISTED_STATES.map((one) => rowSource(one, rows));
}

function rowSource(state: ListedState, all: readonly ListedDelivery[]): Source {
  const rows = all.filter((row) => row.state === state);
  const within = ({ since, until }: TimeRange): ListedDelivery[] =>
    rows.filter(({ at }) => (since === null || at >= since) && (until === null || at <= until));
  return {
    state,
    list: async ({ after, order, limit, ...range }) =>
      inOrder(within(range), order)
        .filter((row) => after === null || compareListed(order)(row, after) > 0)
        .slice(0, limit),
    count: async (range) => within(range).length,
  };
}

export function inOrder(rows: readonly ListedDelivery[], order: DuePage["order"]): ListedDelivery[] {
  return rows.toSorted(compareListed(order));
}

type Placed = Pick<ListedDelivery, "at" | "id">;

function compareListed(order: DuePage["order"]): (left: Placed, right: Placed) => number {
  const sign = order === "asc" ? 1 : -1;
  return (left, right) => sign * (left.at - right.at || left.id - right.id);
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
