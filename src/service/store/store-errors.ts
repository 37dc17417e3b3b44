/** The failures of the data file, and other news of it for its operators. */
import { UnavailableError } from "../domain/errors.ts";

/** `foreign` is of another program, `outdated` of before the baseline, `missing` gone while its log is there. */
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
  | "changed"
  | "full"
  | "unreadable"
  | "moved"
  | "unfinished";

/** A data file that cannot be opened, or cannot be used any more. */
export class StoreFileError extends UnavailableError {
  override readonly name = "StoreFileError";
  readonly trouble: FileTrouble;

  constructor(trouble: FileTrouble, message: string, options?: ErrorOptions) {
    super(message, options);
    this.trouble = trouble;
  }
}

/** The fault of a database on a server. */
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

/** A database on a server that cannot be used, or not now. Its message names no address and no password. */
export class StoreDatabaseError extends UnavailableError {
  override readonly name = "StoreDatabaseError";
  readonly trouble: DatabaseTrouble;

  constructor(trouble: DatabaseTrouble, message: string, options?: ErrorOptions) {
    super(message, options);
    this.trouble = trouble;
  }
}

/** The news of their data file for those who run the service. */
export type StoreEvent =
  | { readonly kind: "created" }
  /** Other users of the machine may read it. */
  | { readonly kind: "readable" }
  | { readonly kind: "trouble"; readonly error: StoreFileError | StoreDatabaseError }
  | { readonly kind: "recovered" }
  /** A statement took more than a second; its name has none of its values. */
  | { readonly kind: "slow"; readonly statement: string; readonly seconds: number };
