import { type Clock, unixSeconds } from "../../../runtime/clock.ts";
import { LIFE_SECONDS } from "../../domain/delivery/living.ts";
import { type Migration, MIGRATIONS, namesAt, newestVersion, NEW_STORE } from "../../sql/schema/migrations.ts";
import { READ_MARKS, refusalByMarks, type OpenMarks } from "../sql/store-marks.ts";
import { StoreFileError } from "../store-errors.ts";
import { fileSize } from "./engine/data-file.ts";
import { type Look, lookInto } from "./engine/engine.ts";
import { readVersion, SQLITE } from "./engine/migrate.ts";

/** Checking a larger file would delay the start by more than about a second. */
const CHECKED_BYTES_MAX = 32 * 1024 * 1024;

interface Opening extends OpenMarks {
  readonly clock: Clock;
  /** Also allows data that was moved elsewhere. */
  readonly isCopy: boolean;
}

export async function refuseUnfit(file: string, opening: Opening): Promise<void> {
  await lookInto(file, (look) => {
    if (fileSize(file) <= CHECKED_BYTES_MAX) refuseDamaged(look);
    const version = readVersion(look);
    if (version === 0) return;
    refuseParts(look, version);
    refuseMarked(look, opening);
    if (version < newestVersion(MIGRATIONS) && !opening.isCopy) refuseServed(look, unixSeconds(opening.clock));
  });
}

/** Refuses to migrate the file while an older version is serving it, because that couldn't use the new schema. */
function refuseServed(look: Look, now: number): void {
  const [[seenAt = null] = []] = look("max(seen_at)", "FROM processes");
  if (seenAt === null || Number(seenAt) <= now - LIFE_SECONDS) return;
  const what = "an older version serves this file; stop it before using this one";
  throw new StoreFileError("served", `${what} (after a crash, wait ${LIFE_SECONDS} seconds)`);
}

function refuseDamaged(look: Look): void {
  const finding = String(look("quick_check", "FROM pragma_quick_check")[0]?.[0]);
  const [line] = finding.replace(/^\*\*\* .* \*\*\*\n/, "").split("\n");
  if (finding !== "ok") throw new StoreFileError("damaged", `the file is damaged: ${line}`);
}

/** Other programs can have tables in the file, but nothing that changes or rejects our rows. */
export function refuseParts(look: Look, version: number, migrations: readonly Migration[] = MIGRATIONS): void {
  const names = namesAt(version, migrations, SQLITE);
  const known = new Map(
    [NEW_STORE, ...migrations].flatMap(({ statements }) =>
      statements(SQLITE).map((sql) => [/^CREATE (?:UNIQUE )?\w+ (\w+)/.exec(sql)?.[1], plain(sql)]),
    ),
  );
  const parts = [
    ...look("type, name, tbl_name, sql", "FROM sqlite_master"),
    ...look("'foreign key', m.name, lower(k.\"table\"), ''", FOREIGN_KEYS),
  ].map((part) => part.map(String));
  const present = new Set(parts.map(([, name]) => name));
  const missing = [...names].find((name) => !present.has(name));
  if (missing !== undefined) throw new StoreFileError("damaged", `the file is damaged: ${missing} is missing`);
  for (const [type, name = "", table = "", sql = ""] of parts) {
    const mayHarm =
      type === "trigger" ||
      (type === "foreign key" && !names.has(name)) ||
      (type === "index" && /^\s*CREATE\s+UNIQUE/i.test(sql));
    // Our own obsolete objects are allowed, because the next migration drops them.
    const isOurs = names.has(name) && (known.get(name) ?? plain(sql)) === plain(sql);
    if (!mayHarm || !names.has(table) || isOurs) continue;
    const what = `${type === "index" ? "an" : "a"} ${type} that is not surveyctl's: ${name}, on ${table}`;
    throw new StoreFileError("foreign", `the file has ${what}; drop it to use the file`);
  }
}

const FOREIGN_KEYS = "FROM sqlite_master m, pragma_foreign_key_list(m.name) k WHERE m.type = 'table'";

/** SQLite keeps a statement as it was written, but quotes some names. */
function plain(sql: string): string {
  return sql.replaceAll(/[\s"]+/g, "");
}

function refuseMarked(look: Look, { isCopy, ...opening }: Opening): void {
  const rows = look("name, value", READ_MARKS.slice(READ_MARKS.indexOf("FROM")));
  const refusal = refusalByMarks(
    rows.map(([name = null, value = null]) => ({ name, value })),
    opening,
  );
  if (refusal !== null && !(isCopy && refusal.trouble === "moved"))
    throw new StoreFileError(refusal.trouble, refusal.message);
}
