import { createHash } from "node:crypto";
import { readRow } from "../../sql/columns.ts";
import { allIn, type Database, numberOrNull, type Session } from "../../sql/database.ts";
import { Rows } from "../../sql/rows.ts";
import { deleteRows } from "../../sql/lists/counted-rows.ts";
import type { SuppressionRows } from "../people/suppression-rows.ts";
import type { Platform } from "../../../contract/resources.ts";
import type { Channel } from "../../../contract/routes.ts";
import type { Project } from "../inputs.ts";

export interface ErasedCounts {
  readonly responses: number;
  readonly surveys: number;
  readonly attempts: number;
  readonly memberships: number;
  readonly events: number;
}

/** The keyed hash of an erased address or id. Data from before `at` belongs to the erased person. */
export interface ErasureEntry {
  readonly hash: string;
  readonly at: number;
}

export const MENTION_KINDS = ["people", "resubscriptions", "surveys", "members", "responses", "events"] as const;
export type MentionKind = (typeof MENTION_KINDS)[number];

export interface Mention {
  readonly kind: MentionKind;
  /** For members and resubscriptions, the person's id. */
  readonly id: number;
  readonly personId: number;
  readonly platform: Platform | null;
  /** The properties, for surveys and members; otherwise null. */
  readonly text: string | null;
}

export interface ErasedLink {
  readonly project: Project;
  readonly channel: Channel;
  readonly addressHash: string;
}

export class ErasureRows extends Rows {
  readonly #suppressions: SuppressionRows;

  constructor(database: Database, session: Session, suppressions: SuppressionRows) {
    super(database, session);
    this.#suppressions = suppressions;
  }

  async counts(project: number, personId: number): Promise<ErasedCounts> {
    const count = async (from: string): Promise<number> => {
      const sql = `SELECT count(*) AS n FROM ${from} WHERE q.project_id = ? AND q.person_id = ?`;
      return Number((await this.database.first(sql, [project, personId]))?.n);
    };
    const attempts = "messages q JOIN delivery_attempts a ON a.project_id = q.project_id AND a.request_id = q.id";
    return {
      responses: await count("responses q"),
      surveys: await count("messages q"),
      attempts: await count(attempts),
      memberships: await count("memberships q"),
      events: await count("webhook_events q"),
    };
  }

  async note(project: number, { hash, at }: ErasureEntry): Promise<void> {
    this.database.send(
      `INSERT INTO erasures (project_id, hash, at) VALUES (?, ?, ?) ON CONFLICT (project_id, hash)
         DO UPDATE SET at = CASE WHEN erasures.at > excluded.at THEN erasures.at ELSE excluded.at END`,
      [project, hash, at],
    );
  }

  async find(project: number, hashes: readonly string[]): Promise<ReadonlyMap<string, number>> {
    const sql = "SELECT hash, at FROM erasures WHERE project_id = ? AND hash IN";
    const rows = await allIn(this.database, sql, [project], hashes);
    return new Map(rows.map(({ hash, at }) => [String(hash), Number(at)]));
  }

  /** Adopts the key of another log. This log must be empty. */
  async adoptSecret(secret: string): Promise<void> {
    this.database.send("UPDATE store_secrets SET value = ? WHERE name = 'erasure'", [secret]);
  }

  async list(project: number, limit: number = Number.MAX_SAFE_INTEGER): Promise<readonly ErasureEntry[]> {
    const sql = "SELECT hash, at FROM erasures WHERE project_id = ? ORDER BY hash LIMIT ?";
    return (await this.database.all(sql, [project, limit])) as unknown as readonly ErasureEntry[];
  }

  /** Keeps unsubscribe links in the person's messages working. Returns how many. */
  async keepLinks(project: number, personId: number): Promise<number> {
    let kept = 0;
    for (const { channel, token, email, phoneNumber } of await this.database.all(LINKS, [project, personId])) {
      const [platform, address] = channel === "sms" ? (["sms", phoneNumber] as const) : (["email", email] as const);
      if (typeof address !== "string" || typeof token !== "string") continue;
      kept += await this.database.run(
        `INSERT INTO erased_links (project_id, hash, channel, address_hash) VALUES (?, ?, ?, ?)
         ON CONFLICT (project_id, hash) DO NOTHING`,
        [project, hashToken(token), platform, await this.#suppressions.hash(platform, address)],
      );
    }
    return kept;
  }

  async forgetLinks(project: number, addressHash: string): Promise<void> {
    this.database.send("DELETE FROM erased_links WHERE project_id = ? AND address_hash = ?", [project, addressHash]);
  }

  /** Finds the erased survey of an unsubscribe token, in any project. */
  async byUnsubscribeToken(token: string): Promise<ErasedLink | null> {
    const row = await this.database.first(
      `SELECT p.id AS "project.id", p.name AS "project.name", l.channel, l.address_hash AS "addressHash"
         FROM erased_links l JOIN projects p ON p.id = l.project_id WHERE l.hash = ?`,
      [hashToken(token)],
    );
    return row === null ? null : readRow<ErasedLink>(row);
  }

  /** Ignores case. `next` is the last id examined, or null at the end. */
  async mentions(
    project: number,
    kind: MentionKind,
    { text, after }: { readonly text: string; readonly after: number },
  ): Promise<{ readonly found: readonly Mention[]; readonly next: number | null }> {
    const { from, id = "id", person = "person_id", columns, more = "NULL AS platform, NULL AS text" } = PLACES[kind];
    const range = `${from} WHERE project_id = ? AND ${id} > ?`;
    const ids = `SELECT ${id} AS id FROM ${range} ORDER BY ${id} LIMIT 1 OFFSET ?`;
    const next = numberOrNull((await this.database.first(ids, [project, after, ROWS_A_STEP - 1]))?.id);
    const pattern = `%${text.toLowerCase().replaceAll(/[~%_]/g, "~$&")}%`;
    const found = await this.database.all(
      `SELECT '${kind}' AS kind, ${id} AS id, ${person} AS "personId", ${more} FROM ${range} AND ${id} <= ?
     AND (${columns.map((column) => `lower(${column}) LIKE ? ESCAPE '~'`).join(" OR ")}) ORDER BY ${id}`,
      [project, after, next ?? Number.MAX_SAFE_INTEGER, ...columns.map(() => pattern)],
    );
    return { found: found as unknown as readonly Mention[], next };
  }

  async deleteEvent(project: number, id: number): Promise<void> {
    await deleteRows(this.database, "webhook_events", project, ["id = ?", id]);
  }

  /** True while deleted rows may still be readable in the store's files. */
  async isCleaning(): Promise<boolean> {
    return (await this.database.first("SELECT 1 FROM upkeep_state WHERE name = ?", [CLEANING])) !== null;
  }

  async setCleaning(isCleaning: boolean): Promise<void> {
    const sql = isCleaning
      ? "INSERT INTO upkeep_state (name, value) VALUES (?, 'true') ON CONFLICT (name) DO NOTHING"
      : "DELETE FROM upkeep_state WHERE name = ?";
    this.database.send(sql, [CLEANING]);
  }
}

const CLEANING = "cleaning";

/** Tokens are long and random, so their hashes need no key. */
function hashToken(token: string): string {
  return createHash("sha256").update(token).digest("hex");
}

const LINKS = `SELECT q.channel, q.unsubscribe_token AS token, w.email, w.phone_number AS "phoneNumber"
  FROM messages q JOIN people w ON w.project_id = q.project_id AND w.id = q.person_id
  WHERE q.project_id = ? AND q.person_id = ? AND q.claims > 0`;

interface Place {
  readonly from: string;
  readonly id?: string;
  readonly person?: string;
  readonly columns: readonly string[];
  readonly more?: string;
}

const PLACES: Readonly<Record<MentionKind, Place>> = {
  people: { from: "people", person: "id", columns: ["name", "properties"] },
  resubscriptions: { from: "resubscriptions", id: "person_id", columns: ["note"] },
  surveys: { from: "messages", columns: ["properties"], more: "NULL AS platform, properties AS text" },
  members: {
    from: "memberships",
    id: "person_id",
    columns: ["properties"],
    more: "platform, properties AS text",
  },
  responses: {
    from: "responses",
    columns: ["comment", "person_properties", "notes", "tags", "additional_answers"],
  },
  events: { from: "webhook_events", columns: ["json", "slack"] },
};

/** Rows per step; more would hold up the API. */
const ROWS_A_STEP = 2000;
