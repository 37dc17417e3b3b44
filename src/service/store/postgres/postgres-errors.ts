import { StoreDatabaseError } from "../store-errors.ts";
import { UniqueViolation } from "../../sql/database.ts";

/**
 * `again`: nothing was done, and a retry may succeed. `lost`: the connection is gone. `unavailable`: a retry wouldn't
 * help now. `unprepared`: a pooler lost the prepared statement. `fault`: a mistake in our code.
 */
export type ErrorKind = "again" | "lost" | "unavailable" | "unprepared" | "fault";

const KINDS: readonly (readonly [RegExp, ErrorKind])[] = [
  [/^(?:40001|40P01|55P03)$/, "again"],
  [/^(?:57P0[1-5]|08\w{3}|25P03)$/, "lost"],
  [/^(?:57014|53\w{3}|25006|28\w{3}|3D000)$/, "unavailable"],
  [/^(?:26000|42P05)$/, "unprepared"],
];
/** Node's codes for incorrect calls. Errors with other codes and no severity come from sockets and TLS. */
const OWN_CODE = /^ERR_(?!SSL_|OSSL_|TLS_|STREAM_|SOCKET_)/;

export function classifyError(error: unknown): ErrorKind {
  if (error instanceof StoreDatabaseError) return "unavailable";
  if (!(error instanceof Error)) return "fault";
  const { code } = error as Error & { readonly code?: unknown };
  if (typeof code !== "string")
    return /connection|timeout|not queryable|Client was closed/i.test(error.message) ? "lost" : "fault";
  const known = KINDS.find(([pattern]) => pattern.test(code))?.[1];
  return known ?? (isOfServer(error) || OWN_CODE.test(code) ? "fault" : "lost");
}

export function isOfServer(error: unknown): boolean {
  return error instanceof Error && "severity" in error;
}

export function translateError(error: unknown): unknown {
  if (!(error instanceof Error) || !("code" in error) || error.code !== "23505") return error;
  const { constraint, detail } = error as Error & { readonly constraint?: string; readonly detail?: string };
  const columns = /^Key \(([\w, ]+)\)=/.exec(detail ?? "")?.[1] ?? "";
  return new UniqueViolation(`${constraint}: ${columns}`, { cause: error });
}

const TOO_MANY_CONNECTIONS = "53300";

export function unavailable(error: unknown): StoreDatabaseError {
  if (error instanceof StoreDatabaseError) return error;
  const code = error instanceof Error && "code" in error ? String(error.code) : "";
  const kind = classifyError(error);
  const options = { cause: error };
  if (code === TOO_MANY_CONNECTIONS)
    return new StoreDatabaseError(
      "too_many_connections",
      "the database has no connection left: each process keeps up to 10; lower ?max= or raise max_connections",
      options,
    );
  if (code === "57014" || code === "55P03" || kind === "again")
    return new StoreDatabaseError("slow", "the database did not answer in time", options);
  return new StoreDatabaseError("unreachable", `the database cannot be reached (${code || "no connection"})`, options);
}
