/** The rows that pass between the rules and an engine, one port for each kind. See `Store` in `ports.ts`. */
import type { KeyAccess } from "../../contract/key-access.ts";
import type { AdditionalAnswer, Platform, Properties } from "../../contract/resources.ts";
import type { Channel, ResponseOrder } from "../../contract/routes.ts";
import type { Project, TimeRange } from "./inputs.ts";
import type { ScoreTally } from "../sql/lists/score-sums.ts";
import type { AutopilotSettings } from "./surveys/autopilot-settings.ts";

export type { ScoreTally };

/**
 * Rows of a list as the JSON text of the specification's resource, each row's text on its own: the engine
 * renders them, since carrying a row over as columns costs more than all else that a list does.
 */
export type JsonRows = readonly string[];

/** A place in a list in creation order: rows after it follow. */
export interface Position {
  readonly createdAt: number;
  readonly id: number;
}

export interface ProjectRow extends Project {
  readonly createdAt: number;
  /** Shortest time between two surveys sent by `POST /v1/people.json`; null for no throttling. */
  readonly throttleSeconds: number | null;
  /** Since when nothing is sent; null while mail goes out. */
  readonly pausedAt: number | null;
  /** Until when no survey leaves, or left last, because as many as may have left that day; null for never. */
  readonly limitedUntil: number | null;
}

/** A key as it is shown: never itself. */
export interface KeyRow {
  readonly id: number;
  /** Null for one without. */
  readonly name: string | null;
  readonly lastFour: string;
  readonly access: KeyAccess;
  readonly createdAt: number;
  /** A UTC day such as `2026-11-26`; null for never. */
  readonly lastUsedOn: string | null;
  /** From when on it opens nothing; null for never. */
  readonly expiresAt: number | null;
}

/** A key that is or was one. */
export interface KnownKeyRow {
  readonly project: Project;
  readonly id: number;
  readonly hash: string;
  readonly access: KeyAccess;
  readonly lastUsedOn: string | null;
  readonly expiresAt: number | null;
  /** Null while it is not revoked. */
  readonly revokedAt: number | null;
}

interface Counts {
  readonly people: number;
  readonly responses: number;
}

export interface ProjectRows {
  /** Throws `TakenError`. */
  insert(project: {
    readonly name: string;
    readonly throttleSeconds: number;
    readonly autopilot: Readonly<Record<Platform, AutopilotSettings>>;
  }): Promise<Project>;
  list(): Promise<readonly ProjectRow[]>;
  byId(id: number): Promise<ProjectRow | null>;
  byName(name: string): Promise<ProjectRow | null>;
  setThrottle(project: number, seconds: number | null): Promise<void>;
  /** Values by name, of those that were set. */
  settings(project: number): Promise<ReadonlyMap<string, string>>;
  /** Null takes the setting back. */
  setSetting(project: number, name: string, value: string | null): Promise<void>;
  /** Null lets mail go out again. */
  setPaused(project: number, at: number | null): Promise<void>;
  /** Surveys wait until then, and the age of those that wait begins then. */
  setLimitedUntil(project: number, at: number): Promise<void>;
  /** Lets surveys that wait for that leave from now on. */
  endLimitNow(project: number): Promise<void>;
  /** The project that has this value under this name; looks at all projects. */
  bySetting(name: string, value: string): Promise<Project | null>;
  /** Throws `TakenError`. */
  insertKey(
    project: number,
    key: Pick<KeyRow, "lastFour" | "name" | "access" | "expiresAt"> & { readonly hash: string },
  ): Promise<KeyRow>;
  /** Those that are not revoked. */
  listKeys(project: number): Promise<readonly KeyRow[]>;
  /** Marks it; false when there is none that is not revoked. */
  revokeKey(project: number, id: number): Promise<boolean>;
  setKeyExpiry(project: number, id: number, at: number): Promise<void>;
  /** Changes nothing where it was used on that day already. */
  setKeyUsed(project: number, id: number, day: string): Promise<void>;
  /** The key with this hash, revoked or not. */
  byKeyHash(hash: string): Promise<KnownKeyRow | null>;
  counts(project: number): Promise<Counts>;
  /** Of every project, by id. `since` is the first day of those that a range needs, days since 1970 (UTC). */
  numbers(since: number): Promise<readonly ProjectNumbers[]>;
}

export interface PersonRow {
  readonly id: number;
  readonly email: string | null;
  readonly name: string | null;
  readonly phoneNumber: string | null;
  /** A JSON object; null if none were ever given. */
  readonly properties: string | null;
  readonly createdAt: number;
  readonly lastSentAt: number | null;
  readonly lastRespondedAt: number | null;
  /** Earliest survey that waits to be sent; null when none does. */
  readonly nextSurveyAt: number | null;
  readonly bouncedAt: number | null;
  readonly unsubscribedAt: number | null;
  /** The id of the survey whose link ended mail, if nothing else has since; its link alone takes that back. */
  readonly unsubscribedBy: number | null;
}

/** A person of whom nothing is known. */
export const UNKNOWN_PERSON: PersonRow = {
  id: 0,
  email: null,
  name: null,
  phoneNumber: null,
  properties: null,
  createdAt: 0,
  lastSentAt: null,
  lastRespondedAt: null,
  nextSurveyAt: null,
  bouncedAt: null,
  unsubscribedAt: null,
  unsubscribedBy: null,
};

export type PersonChange = Partial<Omit<PersonRow, "id" | "createdAt" | "nextSurveyAt" | "lastRespondedAt">>;

export interface NewPerson {
  /** Only when rows of another service are taken over. */
  readonly id?: number;
  readonly email: string | null;
  readonly name: string | null;
  readonly phoneNumber: string | null;
  readonly properties?: string | null;
  readonly createdAt: number;
  readonly lastSentAt: number | null;
  /** When the survey is due that this very write schedules for the person; absent: none. */
  readonly nextSurveyAt?: number | null;
}

export interface PeopleFilter extends TimeRange {
  /** Rows come with `properties`, which the specification's have not. */
  readonly withProperties?: boolean;
  /** Absent: everyone. */
  readonly ids?: readonly number[] | undefined;
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
  /** A second note of the same time replaces the first. */
  noteResubscription(project: number, id: number, resubscription: Resubscription): Promise<void>;
  /** Oldest first. */
  resubscriptions(project: number, id: number): Promise<readonly Resubscription[]>;
}

/** A request to survey somebody again who had left or bounced. */
export interface Resubscription {
  readonly at: number;
  /** The person who asked for it, and the reason. */
  readonly note: string;
}

export interface EventsFilter extends TimeRange {
  readonly offset: number;
  readonly limit: number;
}

/** The rendering of responses. */
export interface ResponseShape {
  readonly expandPerson: boolean;
  readonly expandNotes: boolean;
  /** The part of `permalink` before the token. */
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
  /** `nps`; rows of another service may have other types, which no metric counts. */
  readonly surveyType: string;
  readonly score: number;
  readonly comment: string | null;
  readonly personProperties: Properties;
  readonly tags: readonly string[];
  readonly additionalAnswers: readonly AdditionalAnswer[];
  readonly createdAt: number;
  readonly updatedAt: number;
}

export interface NewResponse {
  /** Only when rows of another service are taken over. */
  readonly id?: number;
  readonly personId: number;
  /** Absent: `nps`. */
  readonly surveyType?: string;
  readonly score: number;
  readonly comment: string | null;
  readonly personProperties: Properties;
  readonly token: string;
  readonly createdAt: number;
  readonly updatedAt: number;
  /** The request that it answers, if one. */
  readonly requestId: number | null;
  /** `link` where it came by a public link; absent: by a survey, or through the API. */
  readonly origin?: "link";
  readonly tags?: readonly string[];
  /** JSON array of additional answers, as the specification shapes them. */
  readonly additionalAnswers?: string;
}

export interface NewNote {
  /** Only when rows of another service are taken over. */
  readonly id?: number;
  readonly text: string;
  readonly userEmail: string;
  readonly createdAt: number;
}

export type StoredResponseChange = Partial<
  Pick<ResponseRow, "personId" | "score" | "comment" | "personProperties" | "tags" | "additionalAnswers">
> & {
  readonly updatedAt: number;
};

/** Counts of a project, out of what is kept by day. */
export interface ProjectNumbers {
  readonly name: string;
  readonly people: number;
  readonly responses: number;
  readonly unsubscribed: number;
  /** Since the day that was asked for. */
  readonly scores: ScoreTally;
  /** Surveys sent since that day, and those of them that were answered. */
  readonly surveys: Readonly<Record<Channel, { readonly sent: number; readonly answered: number }>>;
}

/** Survey responses. Each method keeps `lastRespondedAt` of the people concerned and the trends true. */
export interface ResponseRows {
  byId(project: number, id: number): Promise<ResponseRow | null>;
  /** The new response's id. */
  insert(project: number, response: NewResponse): Promise<number>;
  update(project: number, id: number, change: StoredResponseChange): Promise<void>;
  /** True when there was one to delete. */
  delete(project: number, id: number): Promise<boolean>;
  /** `SurveyResponse` as JSON; null when there is none. */
  json(project: number, id: number, shape: ResponseShape): Promise<string | null>;
  /** `SurveyResponse` as JSON, in the asked order, ties by id in the same direction. */
  list(project: number, filter: ResponsesFilter, shape: ResponseShape): Promise<JsonRows>;
  /** True when some response of the project has additional answers. */
  haveAnswers(project: number): Promise<boolean>;
  /** True when a response of the person with a higher id than `after` was stored since then, Unix seconds. */
  haveCome(project: number, personId: number, after: number, since: number): Promise<boolean>;
  countScores(project: number, filter: TimeRange & { readonly trendId: number | null }): Promise<ScoreTally>;
  /** The number of those that came by public links. */
  countByLinks(project: number, filter: TimeRange & { readonly trendId: number | null }): Promise<number>;
  /** The new note's id. Throws when there is no such response. */
  addNote(project: number, responseId: number, note: NewNote): Promise<number>;
  /** The response behind a permalink's token, in whichever project. */
  byToken(token: string): Promise<{ readonly project: Project; readonly id: number } | null>;
  /** The token of its permalink; null when there is no such response. */
  token(project: number, id: number): Promise<string | null>;
}

/** Secrets of this data file alone. */
export interface SecretRows {
  read(name: string): Promise<string | null>;
  /** Makes one that the file does not have yet; only in a write. */
  ensure(name: string): Promise<string>;
}

/** A saved filter: every named property has, as text, this value. */
export interface Trend {
  readonly id: number;
  readonly name: string;
  readonly where: Readonly<Record<string, string>>;
  readonly createdAt: number;
}

export interface TrendRows {
  /** The new trend's id. The responses that are there already enter it by and by; see `Store.settle`. */
  insert(
    project: number,
    trend: { readonly name: string; readonly where: Readonly<Record<string, string>> },
  ): Promise<number>;
  list(project: number): Promise<readonly Trend[]>;
  /** True when every response that belongs into it is in it; null when there is no such trend. */
  isFilled(project: number, id: number): Promise<boolean | null>;
  /** True when there was one to delete. */
  delete(project: number, id: number): Promise<boolean>;
}

/**
 * The reason why an address is not written to: its owner left by link or API, it refused a message for good, or a text
 * said STOP. A `complaint` says why an `unsubscribe` is there, and suppresses nothing by itself.
 */
export type SuppressionReason = "unsubscribe" | "bounce" | "stop" | "complaint";

export interface Suppression {
  readonly reason: SuppressionReason;
  /** When it began, Unix seconds. */
  readonly at: number;
}

/**
 * Addresses that are not written to on a channel. Kept as keyed hashes: a reader of the file can only
 * check an address that they know already. They outlive the person they were made for.
 */
export interface SuppressionRows {
  /** The first one of each reason is kept; a repeat changes nothing. */
  add(project: number, channel: Channel, address: string, suppression: Suppression): Promise<void>;
  list(project: number, channel: Channel, address: string): Promise<readonly Suppression[]>;
  /** The hash of an address under which a suppression is stored; only in a write. */
  hash(channel: Channel, address: string): Promise<string>;
  /** As `add`, for an address of which only that is known; false when the reason was there already. */
  addHash(project: number, channel: Channel, addressHash: string, suppression: Suppression): Promise<boolean>;
  remove(project: number, channel: Channel, address: string, reason: SuppressionReason): Promise<void>;
}

export type TableRow = Readonly<Record<string, string | number | null>>;

/**
 * `filling`: the command that has not filled it to the end. `moved`: the place of its data now. By these two a store
 * refuses to open. `erasures`: the log next to the data file, which a copy of the file still finds.
 */
export type StoreMark = "erasures" | "filling" | "moved";

/** A store's rows as they are, table by table. What the rules make of them is not known here. */
export interface TableRows {
  /** Every table but those that only concern the store itself; a row comes after those that it refers to. */
  readonly names: readonly string[];
  /** Rows in the order of the table's key, from after the given one on, each with all its columns. */
  page(table: string, after: TableRow | null, limit: number): Promise<readonly TableRow[]>;
  /** All rows have the same columns. */
  insert(table: string, rows: readonly TableRow[]): Promise<void>;
  clear(table: string): Promise<void>;
  /** The number of writes that a project has had; 0 of one that is not there. */
  version(project: number): Promise<number>;
  /** Null where the store has no such mark. */
  mark(name: StoreMark): Promise<string | null>;
  /** Null takes the mark away. */
  setMark(name: StoreMark, value: string | null): Promise<void>;
}

/** The contents of a store at one moment. */
export interface StoreContents {
  readonly projects: number;
  readonly people: number;
  readonly responses: number;
  /** Survey requests, whatever became of them. */
  readonly surveys: number;
}
