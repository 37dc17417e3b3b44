import { PLATFORMS } from "../../../../contract/resources.ts";
import { TakenError } from "../../../domain/errors.ts";
import type { Project } from "../../../domain/inputs.ts";
import type { KeyRow, KnownKeyRow, ProjectRow, ProjectRows } from "../../../domain/ports.ts";
import { type Database, UniqueViolation } from "../../../sql/database.ts";
import type { Session } from "../../../sql/database.ts";
import { peopleIn, responsesBy } from "../../../sql/lists/counted-lists.ts";
import { countRows } from "../../../sql/lists/list-counts.ts";
import { insertAutopilotSettings } from "./people/autopilot-settings.ts";
import { readProjectSums } from "./project-numbers.ts";

const ALL_TIME = { since: null, until: null };

const PROJECT = `SELECT id, name, created_at AS "createdAt", throttle_seconds AS "throttleSeconds",
  paused_at AS "pausedAt", limited_until AS "limitedUntil" FROM projects`;

export function createProjectRows(database: Database, session: Session): ProjectRows {
  return {
    insert: async (project) => insertProject(database, session, project),
    list: async () => (await database.all(`${PROJECT} ORDER BY id`)) as unknown as ProjectRow[],
    byId: async (id) => (await database.first(`${PROJECT} WHERE id = ?`, [id])) as ProjectRow | null,
    byName: async (name) => (await database.first(`${PROJECT} WHERE name = ?`, [name])) as ProjectRow | null,
    setThrottle: async (project, seconds) => {
      database.send("UPDATE projects SET throttle_seconds = ? WHERE id = ?", [seconds, project]);
    },
    setPaused: async (project, at) => {
      database.send("UPDATE projects SET paused_at = ? WHERE id = ?", [at, project]);
    },
    setLimitedUntil: async (project, at) => {
      database.send("UPDATE projects SET limited_until = ? WHERE id = ?", [at, project]);
    },
    endLimitNow: async (project) => {
      const { now } = session;
      database.send("UPDATE projects SET limited_until = ? WHERE id = ? AND limited_until > ?", [now, project, now]);
    },
    settings: async (project) => {
      const rows = await database.all("SELECT name, value FROM project_settings WHERE project_id = ?", [project]);
      return new Map(rows.map(({ name, value }) => [String(name), String(value)]));
    },
    setSetting: async (project, name, value) => {
      database.send("DELETE FROM project_settings WHERE project_id = ? AND name = ?", [project, name]);
      if (value === null) return;
      database.send("INSERT INTO project_settings (project_id, name, value) VALUES (?, ?, ?)", [project, name, value]);
    },
    bySetting: async (name, value) => {
      const row = await database.first(
        "SELECT p.id, p.name FROM project_settings s JOIN projects p ON p.id = s.project_id WHERE s.name = ? AND s.value = ?",
        [name, value],
      );
      return row === null ? null : { id: Number(row.id), name: String(row.name) };
    },
    ...createKeyRows(database, session),
    counts: async (project) => ({
      people: await countRows(database, peopleIn(project), ALL_TIME),
      responses: await countRows(database, responsesBy(project, null, "created_at"), ALL_TIME),
    }),
    numbers: async (since) => readProjectSums(database, since),
  };
}

type KeyRows = Pick<ProjectRows, "insertKey" | "listKeys" | "revokeKey" | "setKeyExpiry" | "setKeyUsed" | "byKeyHash">;

function createKeyRows(database: Database, session: Session): KeyRows {
  return {
    insertKey: async (project, key) => insertKey(database, session, project, key),
    listKeys: async (project) =>
      (await database.all(
        `SELECT id, name, access, last_four AS "lastFour", created_at AS "createdAt", last_used_on AS "lastUsedOn",
          expires_at AS "expiresAt" FROM api_keys WHERE project_id = ? AND revoked_at IS NULL ORDER BY id`,
        [project],
      )) as unknown as KeyRow[],
    revokeKey: async (project, id) =>
      (await database.run("UPDATE api_keys SET revoked_at = ? WHERE project_id = ? AND id = ? AND revoked_at IS NULL", [
        session.now,
        project,
        id,
      ])) > 0,
    setKeyExpiry: async (project, id, at) => {
      database.send("UPDATE api_keys SET expires_at = ? WHERE project_id = ? AND id = ?", [at, project, id]);
    },
    setKeyUsed: async (project, id, day) => {
      await database.run(
        `UPDATE api_keys SET last_used_on = ?
          WHERE project_id = ? AND id = ? AND (last_used_on IS NULL OR last_used_on < ?)`,
        [day, project, id, day],
      );
    },
    byKeyHash: async (hash) => findByKeyHash(database, hash),
  };
}

async function insertProject(
  database: Database,
  { now, updatedAt }: Session,
  project: Parameters<ProjectRows["insert"]>[0],
): Promise<Project> {
  const { name, throttleSeconds, autopilot } = project;
  const [row] = await refuseTaken(() =>
    database.returning(
      "INSERT INTO projects (id, name, created_at, throttle_seconds) SELECT coalesce(max(id), 0) + 1, ?, ?, ? FROM projects RETURNING id",
      [name, now, throttleSeconds],
    ),
  );
  const id = Number(row?.id);
  database.send("INSERT INTO project_state (project_id, next_id, clock, version) VALUES (?, 1, ?, 0)", [id, updatedAt]);
  for (const platform of PLATFORMS) insertAutopilotSettings(database, now, id, platform, autopilot[platform]);
  return { id, name };
}

async function insertKey(
  database: Database,
  { now }: Session,
  project: number,
  { hash, lastFour, name, access, expiresAt }: Parameters<ProjectRows["insertKey"]>[1],
): Promise<KeyRow> {
  const id = await nextId(database, project);
  await refuseTaken(() =>
    database.run(
      `INSERT INTO api_keys (project_id, id, hash, last_four, created_at, name, access, expires_at)
        VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
      [project, id, hash, lastFour, now, name, access, expiresAt],
    ),
  );
  return { id, name, lastFour, access, createdAt: now, lastUsedOn: null, expiresAt };
}

/** Of a project its name, of a key its hash. */
async function refuseTaken<Result>(work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    throw error instanceof UniqueViolation ? new TakenError("name", { cause: error }) : error;
  }
}

interface ProjectOfKey {
  readonly projectId: number;
  readonly name: string;
}

async function findByKeyHash(database: Database, hash: string): Promise<KnownKeyRow | null> {
  const row = await database.first(
    `SELECT p.id AS "projectId", p.name, k.id, k.hash, k.access, k.last_used_on AS "lastUsedOn",
      k.expires_at AS "expiresAt", k.revoked_at AS "revokedAt" FROM api_keys k JOIN projects p ON p.id = k.project_id WHERE k.hash = ?`,
    [hash],
  );
  if (row === null) return null;
  const { projectId, name, ...key } = row as unknown as Omit<KnownKeyRow, "project"> & ProjectOfKey;
  return { project: { id: projectId, name }, ...key };
}

/** The project's next id: ids rise within a project and tell nothing about others. */
export async function nextId(database: Database, project: number): Promise<number> {
  const state = await database.state(project);
  state.nextId += 1;
  return state.nextId - 1;
}

/** Keeps an id of another service: later ids are above it. */
export async function reserveId(database: Database, project: number, id: number): Promise<number> {
  const state = await database.state(project);
  state.nextId = Math.max(state.nextId, id + 1);
  return id;
}
