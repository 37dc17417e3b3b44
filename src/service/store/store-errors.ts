import { UnavailableError } from "../domain/errors.ts";

/** `foreign`: another program's file; `outdated`: older than the baseline; `missing`: gone, but its log is there. */
export type FileTrouble =
  | "not_sqlite"
  | "linked"
  | "foreign"
  | "newer"
  | "outdated"
  | "damaged"
  | "missing"
  | "stale_log"
  | "busy"
  | "served"
  | "changed"
  | "full"
  | "unreadable"
  | "moved"
  | "unfinished";

class TroubleError<Trouble extends string> extends UnavailableError {
  readonly trouble: Trouble;

  constructor(trouble: Trouble, message: string, options?: ErrorOptions) {
    super(message, options);
    this.trouble = trouble;
  }
}

export class StoreFileError extends TroubleError<FileTrouble> {
  override readonly name = "StoreFileError";
}

export type DatabaseTrouble =
  | "unreachable"
  | "too_many_connections"
  | "slow"
  | "foreign"
  | "empty"
  | "older"
  | "newer"
  | "outdated"
  | "moved"
  | "unfinished"
  | "unsupported";

/** The database is unusable. The message contains no address or password. */
export class StoreDatabaseError extends TroubleError<DatabaseTrouble> {
  override readonly name = "StoreDatabaseError";
}

export type StoreEvent =
  | { readonly kind: "created" }
  | { readonly kind: "readable" }
  | { readonly kind: "upgraded"; readonly from: number; readonly to: number }
  | { readonly kind: "trouble"; readonly error: StoreFileError | StoreDatabaseError }
  | { readonly kind: "recovered" }
  /** A statement took more than a second; `statement` contains no values. */
  | { readonly kind: "slow"; readonly statement: string; readonly seconds: number };
