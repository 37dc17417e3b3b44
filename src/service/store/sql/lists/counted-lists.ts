/** The lists whose pages are numbered or whose rows are counted: each has tallies, see `list-tallies.ts`. */
import type { Channel } from "../../../../contract/routes.ts";
import type { ReminderQueue } from "../../../domain/ports.ts";
import { addCondition, type Where } from "./fragments.ts";

/** Rows of one table in the order of a time and an id, both ascending. */
export interface CountedList {
  readonly project: number;
  /** Its name in `list_tallies`. */
  readonly name: string;
  readonly table: string;
  /** The rows of the table that belong to it. */
  readonly where: Where;
  /** The two columns that order it. */
  readonly key: readonly [at: string, id: string];
  /** The other time that a filter may bound; null for none. */
  readonly other: string | null;
  /** True when its rows have a score. */
  readonly isScored: boolean;
}

export type ResponseTime = "created_at" | "updated_at";
export type EventColumn = "bounced_at" | "unsubscribed_at";

export const RESPONSE_TIMES: readonly ResponseTime[] = ["created_at", "updated_at"];

/** A project's responses, or those in a trend, in the order of one of their times. */
export function responsesBy(project: number, trendId: number | null, time: ResponseTime): CountedList {
  const where = inProject(project);
  const other = time === "created_at" ? "updated_at" : "created_at";
  if (trendId === null)
    return { project, name: `responses ${time}`, table: "responses", where, key: [time, "id"], other, isScored: true };
  addCondition(where, "trend_id = ?", trendId);
  const [name, table] = [`trend ${trendId} ${time}`, "trend_responses"];
  return { project, name, table, where, key: [time, "response_id"], other, isScored: true };
}

/** People to whom something happened, in the order of when it did. */
export function peopleBy(project: number, column: EventColumn): CountedList {
  const where = inProject(project);
  addCondition(where, `${column} IS NOT NULL`);
  return { project, name: column, table: "people", where, key: [column, "id"], other: null, isScored: false };
}

/** A project's people, in the order in which they came. */
export function peopleIn(project: number): CountedList {
  const where = inProject(project);
  addCondition(where, "removed = 0");
  return { project, name: "people", table: "people", where, key: ["created_at", "id"], other: null, isScored: false };
}

/** Surveys, or reminders, that were sent on a channel, in the order in which they were. */
export function requestsSent(project: number, channel: Channel | ReminderQueue): CountedList {
  const where = inProject(project);
  addCondition(where, "channel = ?", channel);
  addCondition(where, "sent_at IS NOT NULL");
  const table = "messages";
  return { project, name: `sent ${channel}`, table, where, key: ["sent_at", "id"], other: null, isScored: false };
}

/** Surveys that were sent on a channel and answered since, in the order in which they were sent. */
export function requestsAnswered(project: number, channel: Channel): CountedList {
  const sent = requestsSent(project, channel);
  addCondition(sent.where, "answered_at IS NOT NULL");
  return { ...sent, name: `answered ${channel}` };
}

function inProject(project: number): Where {
  return { clauses: ["project_id = ?"], values: [project] };
}
