import { deleteRequests } from "../delivery/rows/claims.ts";
import { deleteRows, type Fragment, isCounted } from "../../sql/lists/counted-rows.ts";
import { Rows } from "../../sql/rows.ts";
import { TABLES } from "../../sql/schema/baseline.ts";
import type { Project } from "../inputs.ts";
import { peopleIn, responsesBy } from "../../sql/lists/counted-lists.ts";
import { countRows } from "../../sql/lists/list-counts.ts";
import { NUMBERS } from "./project-numbers.ts";
import { readRow } from "../../sql/columns.ts";
import type { KeyAccess } from "../../../contract/key-access.ts";
import type { ProjectNumbers, StoreContents } from "../rows.ts";

export interface ProjectRow extends Project {
  readonly createdAt: number;
  /** Minimum time between surveys sent through `POST /v1/people.json`; null disables throttling. */
  readonly throttleSeconds: number | null;
  readonly pausedAt: number | null;
  /** When the latest delay caused by the daily limit ends or ended; null if there was none. */
  readonly limitedUntil: number | null;
}

export interface KeyRow {
  readonly id: number;
  /** As given, or `key-` and the id. */
  readonly name: string;
  readonly lastFour: string;
  readonly access: KeyAccess;
  readonly createdAt: number;
  /** A UTC day such as `2026-11-26`; null if never used. */
  readonly lastUsedOn: string | null;
  readonly expiresAt: number | null;
}

export interface KnownKeyRow {
  readonly project: Project;
  readonly id: number;
  readonly name: string | null;
  readonly hash: string;
  readonly access: KeyAccess;
  readonly lastUsedOn: string | null;
  readonly expiresAt: number | null;
  readonly revokedAt: number | null;
}

const ALL_TIME = { since: null, until: null };

/** Hides projects whose rows are being deleted. */
const IS_THERE = "id NOT IN (SELECT project_id FROM long_changes WHERE kind = 'remove project')";

const PROJECT = `SELECT id, name, created_at AS "createdAt", throttle_seconds AS "throttleSeconds",
  paused_at AS "pausedAt", limited_until AS "limitedUntil" FROM projects`;

/** Tables that are deleted last, because deleting the other rows needs them. */
const OWN_TABLES = ["row_counts", "long_changes", "project_state"];
/** The operation log outlives its project, and erased surveys stay until their messages are deleted from the outbox. */
const OTHER_TABLES = new Set([...OWN_TABLES, "operation_log", "erased_surveys"]);
/** Rows come before those that they refer to. */
const PROJECT_TABLES = TABLES.filter(
  ({ name, columns }) => columns.startsWith("project_id ") && !OTHER_TABLES.has(name),
).toReversed();

export class ProjectRows extends Rows {
  /** Never reuses the id of a removed project, because its operation log is kept. Rejects with UniqueViolation. */
  async insert({ name, throttleSeconds }: Pick<ProjectRow, "name" | "throttleSeconds">): Promise<Project> {
    const used = [
      await this.database.first("SELECT max(id) AS id FROM projects"),
      await this.database.first("SELECT max(project_id) AS id FROM operation_log"),
    ];
    const id = Math.max(...used.map((row) => Number(row?.id ?? 0))) + 1;
    await this.database.run("INSERT INTO projects (id, name, created_at, throttle_seconds) VALUES (?, ?, ?, ?)", [
      id,
      name,
      this.session.now,
      throttleSeconds,
    ]);
    this.database.send("INSERT INTO project_state (project_id, next_id, clock, version) VALUES (?, 1, ?, 0)", [
      id,
      this.session.updatedAt,
    ]);
    return { id, name };
  }

  async list(): Promise<readonly ProjectRow[]> {
    return (await this.database.all(`${PROJECT} WHERE ${IS_THERE} ORDER BY id`)) as unknown as ProjectRow[];
  }

  async byId(id: number): Promise<ProjectRow | null> {
    return (await this.database.first(`${PROJECT} WHERE id = ?`, [id])) as ProjectRow | null;
  }

  async byName(name: string): Promise<ProjectRow | null> {
    return (await this.database.first(`${PROJECT} WHERE name = ? AND ${IS_THERE}`, [name])) as ProjectRow | null;
  }

  /** Rejects with UniqueViolation. */
  async rename(project: number, name: string): Promise<void> {
    await this.database.run("UPDATE projects SET name = ? WHERE id = ?", [name, project]);
  }

  /** Stops API calls, sending and other long changes before the project is deleted. */
  async close(project: number): Promise<void> {
    await this.setPaused(project, this.session.now);
    for (const table of ["api_keys", "long_changes"])
      this.database.send(`DELETE FROM ${table} WHERE project_id = ?`, [project]);
  }

  /** Deletes rows of one of the project's tables. False if none are left. */
  async deleteSome(project: number, limit: number): Promise<boolean> {
    for (const { name, key } of PROJECT_TABLES) {
      const sql = `SELECT ${key} FROM ${name} WHERE project_id = ? ORDER BY ${key} LIMIT ?`;
      const last = (await this.database.all(sql, [project, limit])).at(-1);
      if (last === undefined) continue;
      const values = key.split(", ").map((column) => last[column] ?? null);
      const upToLast: Fragment = [`(${key}) <= (${values.map(() => "?").join(", ")})`, ...values];
      if (name === "people") await this.#deleteTexts(project, upToLast);
      if (name === "messages") await deleteRequests(this.database, project, upToLast);
      else if (isCounted(name)) await deleteRows(this.database, name, project, upToLast);
      else await this.database.run(`DELETE FROM ${name} WHERE project_id = ? AND ${upToLast[0]}`, [project, ...values]);
      return true;
    }
    return false;
  }

  /** Parts of incoming texts are keyed by phone number, not by project. */
  async #deleteTexts(project: number, [where, ...values]: Fragment): Promise<void> {
    const sql = `SELECT phone_number FROM people WHERE project_id = ? AND phone_number IS NOT NULL AND ${where}`;
    for (const { phone_number: number = null } of await this.database.all(sql, [project, ...values]))
      this.database.send("DELETE FROM text_parts WHERE phone_number = ?", [number]);
  }

  async delete(project: number): Promise<void> {
    for (const table of OWN_TABLES) this.database.send(`DELETE FROM ${table} WHERE project_id = ?`, [project]);
    await this.database.run("DELETE FROM projects WHERE id = ?", [project]);
    this.database.counts.forget(project);
  }

  async setThrottle(project: number, seconds: number | null): Promise<void> {
    this.database.send("UPDATE projects SET throttle_seconds = ? WHERE id = ?", [seconds, project]);
  }

  async setPaused(project: number, at: number | null): Promise<void> {
    this.database.send("UPDATE projects SET paused_at = ? WHERE id = ?", [at, project]);
  }

  /** Delays the project's surveys until this time. Their age counts from then. */
  async setLimitedUntil(project: number, at: number): Promise<void> {
    this.database.send("UPDATE projects SET limited_until = ? WHERE id = ?", [at, project]);
  }

  async endLimitNow(project: number): Promise<void> {
    const { now } = this.session;
    this.database.send("UPDATE projects SET limited_until = ? WHERE id = ? AND limited_until > ?", [now, project, now]);
  }

  async settings(project: number): Promise<ReadonlyMap<string, string>> {
    const rows = await this.database.all("SELECT name, value FROM project_settings WHERE project_id = ?", [project]);
    return new Map(rows.map(({ name, value }) => [String(name), String(value)]));
  }

  async setSetting(project: number, name: string, value: string | null): Promise<void> {
    this.database.send("DELETE FROM project_settings WHERE project_id = ? AND name = ?", [project, name]);
    if (value === null) return;
    this.database.send("INSERT INTO project_settings (project_id, name, value) VALUES (?, ?, ?)", [
      project,
      name,
      value,
    ]);
  }

  async bySetting(name: string, value: string): Promise<Project | null> {
    return (await this.database.first(
      "SELECT p.id, p.name FROM project_settings s JOIN projects p ON p.id = s.project_id WHERE s.name = ? AND s.value = ?",
      [name, value],
    )) as Project | null;
  }

  async insertKey(
    project: number,
    key: Pick<KeyRow, "lastFour" | "access" | "expiresAt"> & { readonly name: string | null; readonly hash: string },
  ): Promise<KeyRow> {
    const { hash, lastFour, name, access, expiresAt } = key;
    const { now } = this.session;
    const id = await this.nextId(project);
    await this.database.run(
      `INSERT INTO api_keys (project_id, id, hash, last_four, created_at, name, access, expires_at)
        VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
      [project, id, hash, lastFour, now, name, access, expiresAt],
    );
    return { id, name: name ?? `key-${id}`, lastFour, access, createdAt: now, lastUsedOn: null, expiresAt };
  }

  async listKeys(project: number): Promise<readonly KeyRow[]> {
    return (await this.database.all(
      `SELECT id, coalesce(name, 'key-' || id) AS name, access, last_four AS "lastFour", created_at AS "createdAt", last_used_on AS "lastUsedOn",
        expires_at AS "expiresAt" FROM api_keys WHERE project_id = ? AND revoked_at IS NULL ORDER BY id`,
      [project],
    )) as unknown as KeyRow[];
  }

  /** False if the key doesn't exist or is already revoked. */
  async revokeKey(project: number, id: number): Promise<boolean> {
    const sql = "UPDATE api_keys SET revoked_at = ? WHERE project_id = ? AND id = ? AND revoked_at IS NULL";
    return (await this.database.run(sql, [this.session.now, project, id])) > 0;
  }

  async setKeyExpiry(project: number, id: number, at: number): Promise<void> {
    this.database.send("UPDATE api_keys SET expires_at = ? WHERE project_id = ? AND id = ?", [at, project, id]);
  }

  async setKeyUsed(project: number, id: number, day: string): Promise<void> {
    await this.database.run(
      `UPDATE api_keys SET last_used_on = ?
        WHERE project_id = ? AND id = ? AND (last_used_on IS NULL OR last_used_on < ?)`,
      [day, project, id, day],
    );
  }

  async byKeyHash(hash: string): Promise<KnownKeyRow | null> {
    const row = await this.database.first(
      `SELECT p.id AS "project.id", p.name AS "project.name", k.id, k.name, k.hash, k.access, k.last_used_on AS "lastUsedOn",
      k.expires_at AS "expiresAt", k.revoked_at AS "revokedAt" FROM api_keys k JOIN projects p ON p.id = k.project_id WHERE k.hash = ?`,
      [hash],
    );
    return row === null ? null : readRow<KnownKeyRow>(row);
  }

  async counts(project: number): Promise<Pick<StoreContents, "people" | "responses">> {
    return {
      people: await countRows(this.database, peopleIn(project), ALL_TIME),
      responses: await countRows(this.database, responsesBy(project, null, "created_at"), ALL_TIME),
    };
  }

  /** `since` is the first recent day, in days since 1970 (UTC). */
  async numbers(since: number): Promise<readonly ProjectNumbers[]> {
    return (await this.database.all(NUMBERS, [since])).map((row) => readRow<ProjectNumbers>(row));
  }
}
