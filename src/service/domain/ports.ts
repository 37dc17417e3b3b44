/**
 * What the rules need from the world that keeps the data. An engine implements `Store`; the rules get a
 * `Transaction` and hand it plain rows. Ids are whole numbers, counted from 1 within each project; every
 * method takes the project's id first and can neither see nor touch another project's rows.
 * `…At` is Unix seconds, inclusive where it bounds a list.
 */
import type { AutopilotConfiguration, Platform, Properties } from "../../contract/resources.ts";
import type { Channel, ResponseOrder } from "../../contract/routes.ts";
import type { Project, TimeRange } from "./inputs.ts";

export interface Store {
  /** Runs `work` on committed data. Nothing else runs meanwhile, so what it reads belongs together. */
  read<Result>(work: (tx: Transaction) => Promise<Result>): Promise<Result>;
  /**
   * Runs `work` as a transaction and resolves once it is durable. Writes that wait together share one
   * commit; work that throws is rolled back alone and rejects with its own error.
   */
  write<Result>(work: (tx: Transaction) => Promise<Result>): Promise<Result>;
  /** Writes a whole, consistent copy to a new file, while reads and writes wait. */
  backup(file: string): Promise<void>;
  /** Gives back the space of deleted rows. */
  vacuum(): Promise<void>;
  /** What is wrong with the data file, a sentence a finding; empty when it is sound. */
  check(): Promise<readonly string[]>;
  /** Waits for running work, then frees the file. Later work is refused. */
  close(): Promise<void>;
}

/** One unit of work. Never kept after the work has ended. */
export interface Transaction {
  /** Frozen for the whole transaction, Unix seconds. */
  readonly now: number;
  /** Unguessable URL-safe text of 22 characters, for links that anybody who has them may open. */
  token(): string;
  readonly projects: ProjectRows;
  readonly people: PersonRows;
  readonly requests: RequestRows;
  readonly responses: ResponseRows;
  readonly trends: TrendRows;
  readonly autopilot: AutopilotRows;
}

/**
 * Rows of a list as the JSON text of the specification's resource, each row's text on its own: the engine
 * renders them, since carrying a row over as columns costs more than all else that a list does.
 */
export type JsonRows = readonly string[];

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

/** A place in a list in creation order: rows after it follow. */
export interface Position {
  readonly createdAt: number;
  readonly id: number;
}

export interface PeopleFilter extends TimeRange {
  /** Only this person. */
  readonly id: number | null;
  readonly after: Position | null;
  readonly limit: number;
}

/** Which field another person holds already; the engine's unique indexes decide, so no two callers can race. */
export class TakenError extends Error {
  override readonly name = "TakenError";
  readonly field: "email" | "phoneNumber" | "name" | "id";

  constructor(field: "email" | "phoneNumber" | "name" | "id", options?: ErrorOptions) {
    super(`${field} has already been taken`, options);
    this.field = field;
  }
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
  /** The person and all that belongs to them: surveys, responses with notes, memberships. */
  delete(project: number, id: number): Promise<void>;
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

export interface NewRequest {
  readonly personId: number;
  readonly channel: Channel;
  /** Whether Autopilot made it. */
  readonly autopilot: boolean;
  readonly createdAt: number;
  readonly scheduledAt: number;
  /** Kept, but not due: its Autopilot is inactive. */
  readonly paused: boolean;
  readonly properties: Properties;
  readonly token: string;
}

/** A survey request that a scheduler has claimed: all that a message needs. */
export interface DueSurvey {
  readonly project: Project;
  readonly requestId: number;
  readonly channel: Channel;
  readonly autopilot: boolean;
  readonly token: string;
  /** As given on the request; `readSpecialProperties` gives their meaning. */
  readonly properties: Properties;
  readonly scheduledAt: number;
  /** How many tries came before this one. */
  readonly attempts: number;
  readonly claimer: string;
  readonly person: {
    readonly id: number;
    readonly email: string | null;
    readonly name: string | null;
    readonly phoneNumber: string | null;
  };
}

export interface Claim {
  /** Names the scheduler that claims. */
  readonly claimer: string;
  /** A claim that is not finished after this long is found again. */
  readonly leaseSeconds: number;
  readonly limit: number;
}

/** Survey requests. Each method keeps the person's `nextSurveyAt` true. */
export interface RequestRows {
  /** The new request's id. */
  insert(project: number, request: NewRequest): Promise<number>;
  /** Replaces the properties of one that waits. */
  setProperties(project: number, id: number, properties: Properties): Promise<void>;
  /**
   * Drops a person's waiting requests: of one channel (null: all), and only Autopilot's or only the others (null: both).
   * One that is claimed at this moment is finished by its claimer, but never found again.
   */
  cancel(project: number, personId: number, which: { readonly channel: Channel | null; readonly autopilot: boolean | null }): Promise<void>;
  /** Claims what is due, earliest first, over all projects. */
  claimDue(claim: Claim): Promise<readonly DueSurvey[]>;
  /** When the next unclaimed request, or the next lease, is due; null when nothing waits. */
  nextDueAt(): Promise<number | null>;
  /** Makes claims of others than these schedulers due again. Returns how many. */
  releaseClaims(living: readonly string[]): Promise<number>;
  /** Marks a claimed request as sent now; false when this claim is not the request's any more. */
  markSent(due: DueSurvey): Promise<boolean>;
  /** Takes a claimed request out without having sent it; false as above. */
  markFailed(due: DueSurvey): Promise<boolean>;
  /** Gives a claimed request back, due at `dueAt`; false as above. */
  postpone(due: DueSurvey, dueAt: number): Promise<boolean>;
  countSent(project: number, channel: Channel, range: TimeRange): Promise<number>;
  /** The survey that a link names, in whichever project; null when there is none. */
  byToken(token: string): Promise<SurveyLink | null>;
}

/** What a link of a message leads to. */
export interface SurveyLink {
  readonly project: Project;
  readonly requestId: number;
  readonly personId: number;
  readonly channel: Channel;
  readonly properties: Properties;
  /** The response given already through this link. */
  readonly responseId: number | null;
}

/** How responses are rendered. */
export interface ResponseShape {
  readonly expandPerson: boolean;
  readonly expandNotes: boolean;
  /** What stands before the token in `permalink`. */
  readonly permalinkPrefix: string;
}

export interface ResponsesFilter extends TimeRange {
  readonly updatedSince: number | null;
  readonly updatedUntil: number | null;
  readonly personId: number | null;
  readonly trendId: number | null;
  readonly order: ResponseOrder;
  readonly offset: number;
  readonly limit: number;
}

export interface ResponseRow {
  readonly id: number;
  readonly personId: number;
  readonly score: number;
  readonly comment: string | null;
  readonly personProperties: Properties;
  readonly createdAt: number;
  readonly updatedAt: number;
}

export interface NewResponse {
  /** Only when rows of another service are taken over. */
  readonly id?: number;
  readonly personId: number;
  readonly score: number;
  readonly comment: string | null;
  readonly personProperties: Properties;
  readonly token: string;
  readonly createdAt: number;
  readonly updatedAt: number;
  /** The request that it answers, if one. */
  readonly requestId: number | null;
  readonly tags?: readonly string[];
  /** JSON array of additional answers, as the specification shapes them. */
  readonly additionalAnswers?: string;
}

export type StoredResponseChange = Partial<Pick<ResponseRow, "personId" | "score" | "comment" | "personProperties">> & {
  readonly updatedAt: number;
};

export interface ScoreCounts {
  readonly promoters: number;
  readonly passives: number;
  readonly detractors: number;
}

/** Survey responses. Each method keeps `lastRespondedAt` of the people concerned and the trends true. */
export interface ResponseRows {
  byId(project: number, id: number): Promise<ResponseRow | null>;
  /** The new response's id. */
  insert(project: number, response: NewResponse): Promise<number>;
  update(project: number, id: number, change: StoredResponseChange): Promise<void>;
  /** `SurveyResponse` as JSON; null when there is none. */
  json(project: number, id: number, shape: ResponseShape): Promise<string | null>;
  /** `SurveyResponse` as JSON, in the asked order, ties by id in the same direction. */
  list(project: number, filter: ResponsesFilter, shape: ResponseShape): Promise<JsonRows>;
  countScores(project: number, filter: TimeRange & { readonly trendId: number | null }): Promise<ScoreCounts>;
  addNote(
    project: number,
    responseId: number,
    note: { readonly id?: number; readonly text: string; readonly userEmail: string; readonly createdAt: number },
  ): Promise<number>;
  /** The response behind a permalink's token, in whichever project. */
  byToken(token: string): Promise<{ readonly project: Project; readonly id: number } | null>;
}

/** A saved filter: every named property has, as text, this value. */
export interface Trend {
  readonly id: number;
  readonly name: string;
  readonly where: Readonly<Record<string, string>>;
  readonly createdAt: number;
}

export interface TrendRows {
  insert(project: number, trend: { readonly name: string; readonly where: Readonly<Record<string, string>> }): Promise<number>;
  list(project: number): Promise<readonly Trend[]>;
  exists(project: number, id: number): Promise<boolean>;
  /** Whether there was one to delete. */
  delete(project: number, id: number): Promise<boolean>;
}

export interface MembershipRow {
  readonly personId: number;
  readonly createdAt: number;
  readonly updatedAt: number;
  readonly properties: Properties;
  /** The request that waits to be sent; null when none does. */
  readonly nextRequestId: number | null;
}

export interface MembersFilter {
  readonly personId: number | null;
  readonly after: Position | null;
  readonly limit: number;
}

export interface AutopilotRows {
  configuration(project: number, platform: Platform): Promise<AutopilotConfiguration>;
  /** Pauses or wakes the platform's waiting requests, and reschedules recurring ones when the frequency changes. */
  configure(project: number, platform: Platform, change: { readonly active: boolean; readonly frequencySeconds: number }): Promise<void>;
  member(project: number, platform: Platform, personId: number): Promise<MembershipRow | null>;
  insertMember(project: number, platform: Platform, member: { readonly personId: number; readonly properties: Properties }): Promise<void>;
  setMemberProperties(project: number, platform: Platform, personId: number, properties: Properties): Promise<void>;
  /** Names the request that is the member's next; null for none. */
  setNextRequest(project: number, platform: Platform, personId: number, requestId: number | null): Promise<void>;
  deleteMember(project: number, platform: Platform, personId: number): Promise<void>;
  /** In the order in which they were added, `Membership` as JSON; `Position.id` is the person's. */
  list(project: number, platform: Platform, filter: MembersFilter): Promise<JsonRows>;
}

export interface ProjectRow extends Project {
  readonly createdAt: number;
  /** Shortest time between two surveys sent by `POST /v1/people.json`; null for no throttling. */
  readonly throttleSeconds: number | null;
}

/** A key as it is shown: never itself. */
export interface KeyRow {
  readonly id: number;
  readonly lastFour: string;
  readonly createdAt: number;
}

export interface Counts {
  readonly people: number;
  readonly responses: number;
  /** Survey requests that wait to be sent. */
  readonly scheduled: number;
  readonly sent: number;
  readonly members: number;
}

export interface ProjectRows {
  /** Throws `TakenError`. */
  insert(project: { readonly name: string; readonly throttleSeconds: number; readonly frequencySeconds: number }): Promise<Project>;
  list(): Promise<readonly ProjectRow[]>;
  byId(id: number): Promise<ProjectRow | null>;
  byName(name: string): Promise<ProjectRow | null>;
  setThrottle(project: number, seconds: number | null): Promise<void>;
  insertKey(project: number, key: { readonly hash: string; readonly lastFour: string }): Promise<KeyRow>;
  listKeys(project: number): Promise<readonly KeyRow[]>;
  deleteKey(project: number, id: number): Promise<boolean>;
  /** The project whose key has this hash, and the stored hash. */
  byKeyHash(hash: string): Promise<{ readonly project: Project; readonly hash: string } | null>;
  counts(project: number): Promise<Counts>;
}
