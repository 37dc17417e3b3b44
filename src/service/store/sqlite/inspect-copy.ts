import { ERASURE_SECRET, type ErasureLog } from "../../domain/privacy/erasure-log.ts";
import { TABLE_KEYS } from "../../domain/moving/table-rows.ts";
import { VERSIONS_TABLE } from "../../sql/schema/migrations.ts";
import { StoreFileError } from "../store-errors.ts";
import { isSqliteFile } from "./engine/data-file.ts";
import { type Look, lookInto, openEngine } from "./engine/engine.ts";
import { readVersion } from "./engine/migrate.ts";
import { integrityFindings } from "./integrity.ts";

export interface CopyFacts {
  readonly schema: number;
  /** Omits tables that only an older or newer version has. */
  readonly rows: Readonly<Record<string, number>>;
  readonly people: number;
  readonly surveys: number;
  readonly findings: readonly string[];
}

/** Reads the whole file. It was closed properly, so it has no log. Throws StoreFileError if it isn't a data file. */
export function inspectCopy(file: string): Promise<CopyFacts> {
  return lookIntoOurs(file, (look) => {
    const count = (from: string): number => Number(look("count(*)", `FROM ${from}`)[0]?.[0]);
    const tables = look("name", "FROM sqlite_master WHERE type = 'table'").map(([name]) => String(name));
    return {
      schema: Number(look("max(version)", `FROM ${VERSIONS_TABLE}`)[0]?.[0]),
      rows: Object.fromEntries(
        tables.filter((table) => Object.hasOwn(TABLE_KEYS, table)).map((table) => [table, count(table)]),
      ),
      people: count("people WHERE removed = 0"),
      surveys: count("messages WHERE person_id IS NOT NULL"),
      findings: integrityFindings(look),
    };
  });
}

/** Without a mark, `madeAt` is when a service last wrote. Rows with ids from `nextIds` on are newer than the copy. */
export function readCopyMarks(file: string) {
  return lookIntoOurs(file, (look) => {
    const written = "SELECT max(clock) AS at FROM project_state UNION ALL SELECT max(seen_at) FROM processes";
    const marked = look("value", `FROM store_marks WHERE name = '${BEGUN_MARK}'`);
    return {
      madeAt: Number((marked[0] ?? look("max(at)", `FROM (${written})`)[0])?.[0]),
      nextIds: new Map(
        look("project_id, next_id", "FROM project_state").map(([id, next]) => [Number(id), Number(next)]),
      ),
    };
  });
}

export function readCopiedErasures(file: string): Promise<ErasureLog> {
  return lookIntoOurs(file, (look) => {
    const [secret] = look("value", `FROM store_secrets WHERE name = '${ERASURE_SECRET}'`);
    const projects = look("id, name", "FROM projects ORDER BY id").map(([id, name]) => {
      const entries = look("hash, at", `FROM erasures WHERE project_id = ${Number(id)}`);
      return { name: String(name), entries: entries.map(([hash, at]) => ({ hash: String(hash), at: Number(at) })) };
    });
    return { secret: String(secret?.[0] ?? ""), projects };
  });
}

async function lookIntoOurs<Result>(file: string, read: (look: Look) => Result): Promise<Result> {
  if (!isSqliteFile(file)) throw new StoreFileError("not_sqlite", "the file is not a SQLite database");
  return lookInto(file, (look) => {
    if (readVersion(look, Infinity) === 0)
      throw new StoreFileError("foreign", "this is a SQLite file of another program");
    return read(look);
  });
}

const BEGUN_MARK = "backup begun";

/** The copy must be closed. */
export async function markBegun(copy: string, at: number): Promise<void> {
  const engine = await openEngine(copy);
  engine.exec(`INSERT OR REPLACE INTO store_marks (name, value) VALUES ('${BEGUN_MARK}', '${at}')`);
  engine.close();
}
