import type { TimeRange } from "../inputs.ts";
import type { JsonRows, Position } from "./list-rows.ts";

export interface PersonRow {
  readonly id: number;
  readonly email: string | null;
  readonly name: string | null;
  readonly phoneNumber: string | null;
  readonly createdAt: number;
  readonly lastSentAt: number | null;
  readonly lastRespondedAt: number | null;
  /** Earliest survey that waits to be sent; null when none does. */
  readonly nextSurveyAt: number | null;
  readonly bouncedAt: number | null;
  readonly unsubscribedAt: number | null;
}

export type PersonChange = Partial<Omit<PersonRow, "id" | "createdAt" | "nextSurveyAt" | "lastRespondedAt">>;

export interface NewPerson {
  /** Only when rows of another service are taken over. */
  readonly id?: number;
  readonly email: string | null;
  readonly name: string | null;
  readonly phoneNumber: string | null;
  readonly createdAt: number;
  readonly lastSentAt: number | null;
}

export interface PeopleFilter extends TimeRange {
  /** Only this person. */
  readonly id: number | null;
  readonly after: Position | null;
  readonly limit: number;
}

export interface PersonRows {
  byId(project: number, id: number): Promise<PersonRow | null>;
  /** Compared without regard to case. */
  byEmail(project: number, email: string): Promise<PersonRow | null>;
  byPhone(project: number, phoneNumber: string): Promise<PersonRow | null>;
  /** Throws `TakenError`. */
  insert(project: number, person: NewPerson): Promise<PersonRow>;
  /** Changes the named fields alone. Throws `TakenError`. */
  update(project: number, id: number, change: PersonChange): Promise<void>;
  /**
   * The person and all that belongs to them: surveys, responses with notes, memberships. The person is gone at once;
   * false when responses or sent surveys are left, which go by and by: see `Store.settle`.
   */
  delete(project: number, id: number): Promise<boolean>;
  /** In creation order, `Person` as JSON. */
  list(project: number, filter: PeopleFilter): Promise<JsonRows>;
  /** Oldest bounce first, `Bounce` as JSON. */
  listBounced(project: number, filter: EventsFilter): Promise<JsonRows>;
  /** Oldest unsubscribe first, `Unsubscribe` as JSON. */
  listUnsubscribed(project: number, filter: EventsFilter): Promise<JsonRows>;
  countBounced(project: number, range: TimeRange): Promise<number>;
  countUnsubscribed(project: number, range: TimeRange): Promise<number>;
}

export interface EventsFilter extends TimeRange {
  readonly offset: number;
  readonly limit: number;
}
