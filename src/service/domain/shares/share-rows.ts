/** Pages for colleagues as they are stored, and the days that they count. */
import type { Project } from "../inputs.ts";
import type { AnswerGroup, DayTally } from "./day-tally.ts";

export interface ShareRow {
  readonly project: Project;
  readonly id: number;
  readonly name: string;
  /** Of its link's token, which is stored nowhere. */
  readonly tokenHash: string;
  readonly trendId: number | null;
  readonly segments: readonly string[];
  /** True where the page shows the newest comments. */
  readonly showsComments: boolean;
  readonly createdAt: number;
  /** From when on the page is gone, Unix seconds; null for never. */
  readonly expiresAt: number | null;
}

/** Days since 1970, both inclusive; null is open. */
export interface DayRange {
  readonly first: number | null;
  readonly last: number;
}

export interface SharedDay {
  /** Days since 1970, UTC. */
  readonly day: number;
  readonly rowCount: number;
  /** As it was kept; null where a response of the day came, went or changed since. */
  readonly tally: DayTally | null;
}

/** Any change of a response forgets what is kept of its day, in the same transaction. */
export interface ShareRows {
  insert(project: number, share: Omit<ShareRow, "project" | "id" | "createdAt">): Promise<number>;
  /** In order of creation. */
  list(project: number): Promise<readonly ShareRow[]>;
  /** False when there was none. */
  delete(project: number, id: number): Promise<boolean>;
  byTokenHash(hash: string): Promise<ShareRow | null>;
  /** The days that have responses, oldest first. */
  days(share: ShareRow, range: DayRange): Promise<readonly SharedDay[]>;
  /** Answers of a range of time, Unix seconds, both inclusive. */
  answers(share: ShareRow, range: { readonly since: number; readonly until: number }): Promise<readonly AnswerGroup[]>;
  /** Only in the transaction that has read the day's answers, and with its project locked. */
  keepDay(share: ShareRow, day: number, tally: DayTally): Promise<void>;
}
