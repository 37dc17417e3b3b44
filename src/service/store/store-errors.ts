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

export class StoreFileError extends UnavailableError {
  override readonly name = "StoreFileError";
  readonly trouble: FileTrouble;

  constructor(trouble: FileTrouble, message: string, options?: ErrorOptions) {
    super(message, options);
    this.trouble = trouble;
  }
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
export class StoreDatabaseError extends UnavailableError {
  override readonly name = "StoreDatabaseError";
  readonly trouble: DatabaseTrouble;

  constructor(trouble: DatabaseTrouble, message: string, options?: ErrorOptions) {
    super(message, options);
    this.trouble = trouble;
  }
}

export type StoreEvent =
  | { readonly kind: "created" }
  | { readonly kind: "readable" }
  | { readonly kind: "upgraded"; readonly from: number; readonly to: number }
  | { readonly kind: "trouble"; readonly error: StoreFileError | StoreDatabaseError }
  | { readonly kind: "recovered" }
  /** A statement took more than a second; `statement` contains no values. */
  | { readonly kind: "slow"; readonly statement: string; readonly seconds: number };
