import { createHash } from "node:crypto";
import { allIn, type Database, numberOrNull, type SqlRow } from "../../sql/database.ts";
import { deleteRows } from "../../sql/lists/counted-rows.ts";
import type { SecretRows } from "../secret-rows.ts";
import { suppressionHash } from "../people/suppression-rows.ts";
import type { ErasedCounts, ErasureEntry, MentionKind, Mention, ErasedLink } from "./rows.ts";

export class ErasureRows {
  readonly #database: Database;
  readonly #secrets: SecretRows;

  constructor(database: Database, secrets: SecretRows) {
    this.#database = database;
    this.#secrets = secrets;
  }

  async counts(project: number, personId: number): Promise<ErasedCounts> {
    const count = async (from: string): Promise<number> =>
      Number(
        (
          await this.#database.first(`SELECT count(*) AS n FROM ${from} WHERE q.project_id = ? AND q.person_id = ?`, [
            project,
            personId,
          ])
        )?.n,
      );
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
    this.#database.send(
      `INSERT INTO erasures (project_id, hash, at) VALUES (?, ?, ?) ON CONFLICT (project_id, hash)
         DO UPDATE SET at = CASE WHEN erasures.at > excluded.at THEN erasures.at ELSE excluded.at END`,
      [project, hash, at],
    );
  }

  async find(project: number, hashes: readonly string[]): Promise<ReadonlyMap<string, number>> {
    const rows = await allIn(
      this.#database,
      "SELECT hash, at FROM erasures WHERE project_id = ? AND hash IN",
      [project],
      hashes,
    );
    return new Map(rows.map(({ hash, at }) => [String(hash), Number(at)]));
  }

  /** Switches to the key of another log. This one must be empty. */
  async adoptSecret(secret: string): Promise<void> {
    this.#database.send("UPDATE store_secrets SET value = ? WHERE name = 'erasure'", [secret]);
  }

  async list(project: number, limit: number = Number.MAX_SAFE_INTEGER): Promise<readonly ErasureEntry[]> {
    return (await this.#database.all("SELECT hash, at FROM erasures WHERE project_id = ? ORDER BY hash LIMIT ?", [
      project,
      limit,
    ])) as unknown as readonly ErasureEntry[];
  }

  async keepLinks(project: number, personId: number): Promise<number> {
    return keepLinks(this.#database, this.#secrets, project, personId);
  }

  async forgetLinks(project: number, addressHash: string): Promise<void> {
    this.#database.send("DELETE FROM erased_links WHERE project_id = ? AND address_hash = ?", [project, addressHash]);
  }

  /** The erased survey of an unsubscribe token, in any project. */
  async byUnsubscribeToken(token: string): Promise<ErasedLink | null> {
    const row = await this.#database.first(
      `SELECT p.id AS "projectId", p.name, l.channel, l.address_hash AS "addressHash"
         FROM erased_links l JOIN projects p ON p.id = l.project_id WHERE l.hash = ?`,
      [hashToken(token)],
    );
    if (row === null) return null;
    return {
      project: { id: Number(row.projectId), name: String(row.name) },
      channel: row.channel === "sms" ? "sms" : "email",
      addressHash: String(row.addressHash),
    };
  }

  /**
   * Rows of one kind that contain the text, ignoring case, after this id; and the last id examined, or null at the end.
   */
  async mentions(
    project: number,
    kind: MentionKind,
    { text, after }: { readonly text: string; readonly after: number },
  ): Promise<{ readonly found: readonly Mention[]; readonly next: number | null }> {
    const { from, id, person, columns, more } = PLACES[kind];
    const range = `${from} WHERE project_id = ? AND ${id} > ?`;
    const last = await this.#database.first(`SELECT ${id} AS id FROM ${range} ORDER BY ${id} LIMIT 1 OFFSET ?`, [
      project,
      after,
      ROWS_A_STEP - 1,
    ]);
    const next = numberOrNull(last?.id);
    const pattern = `%${text.toLowerCase().replaceAll(/[~%_]/g, "~$&")}%`;
    const found = await this.#database.all(
      `SELECT ${id} AS id, ${person} AS "personId", ${more} FROM ${range} AND ${id} <= ?
     AND (${columns.map((column) => `lower(${column}) LIKE ? ESCAPE '~'`).join(" OR ")}) ORDER BY ${id}`,
      [project, after, next ?? Number.MAX_SAFE_INTEGER, ...columns.map(() => pattern)],
    );
    return { found: found.map((row) => toMention(kind, row)), next };
  }

  async deleteEvent(project: number, id: number): Promise<void> {
    await deleteRows(this.#database, "webhook_events", project, ["id = ?", id]);
  }

  /** True if deleted rows may still be readable in the store's files. */
  async isCleaning(): Promise<boolean> {
    return (await this.#database.first("SELECT 1 FROM upkeep_state WHERE name = ?", [CLEANING])) !== null;
  }

  async setCleaning(isCleaning: boolean): Promise<void> {
    const sql = isCleaning
      ? "INSERT INTO upkeep_state (name, value) VALUES (?, 'true') ON CONFLICT (name) DO NOTHING"
      : "DELETE FROM upkeep_state WHERE name = ?";
    this.#database.send(sql, [CLEANING]);
  }
}

const CLEANING = "cleaning";

/** Tokens are long and random, so their hashes need no key. */
function hashToken(token: string): string {
  return createHash("sha256").update(token).digest("hex");
}

async function keepLinks(database: Database, secrets: SecretRows, project: number, personId: number): Promise<number> {
  const links = await database.all(
    `SELECT q.channel, q.unsubscribe_token AS token, w.email, w.phone_number AS "phoneNumber"
     FROM messages q JOIN people w ON w.project_id = q.project_id AND w.id = q.person_id
     WHERE q.project_id = ? AND q.person_id = ? AND q.claims > 0`,
    [project, personId],
  );
  let kept = 0;
  for (const { channel, token, email, phoneNumber } of links) {
    const address = channel === "sms" ? phoneNumber : email;
    if (typeof address !== "string" || typeof token !== "string") continue;
    kept += await database.run(
      `INSERT INTO erased_links (project_id, hash, channel, address_hash) VALUES (?, ?, ?, ?)
       ON CONFLICT (project_id, hash) DO NOTHING`,
      [
        project,
        hashToken(token),
        channel ?? null,
        await suppressionHash(secrets, channel === "sms" ? "sms" : "email", address),
      ],
    );
  }
  return kept;
}

interface Place {
  readonly from: string;
  readonly id: string;
  readonly person: string;
  readonly columns: readonly string[];
  readonly more: string;
}

const PLACES: Readonly<Record<MentionKind, Place>> = {
  people: {
    from: "people",
    id: "id",
    person: "id",
    columns: ["name", "properties"],
    more: "NULL AS platform, NULL AS text",
  },
  resubscriptions: {
    from: "resubscriptions",
    id: "person_id",
    person: "person_id",
    columns: ["note"],
    more: "NULL AS platform, NULL AS text",
  },
  surveys: {
    from: "messages",
    id: "id",
    person: "person_id",
    columns: ["properties"],
    more: "NULL AS platform, properties AS text",
  },
  members: {
    from: "memberships",
    id: "person_id",
    person: "person_id",
    columns: ["properties"],
    more: "platform, properties AS text",
  },
  responses: {
    from: "responses",
    id: "id",
    person: "person_id",
    columns: ["comment", "person_properties", "notes", "tags", "additional_answers"],
    more: "NULL AS platform, NULL AS text",
  },
  events: {
    from: "webhook_events",
    id: "id",
    person: "person_id",
    columns: ["json", "slack"],
    more: "NULL AS platform, NULL AS text",
  },
};

/** Rows per step; more would delay the API. */
const ROWS_A_STEP = 2000;

function toMention(kind: MentionKind, { id, personId, platform, text }: SqlRow): Mention {
  return {
    kind,
    id: Number(id),
    personId: Number(personId),
    platform: platform === "email" || platform === "sms" ? platform : null,
    text: typeof text === "string" ? text : null,
  };
}
