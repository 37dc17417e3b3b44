import { UnavailableError } from "../domain/errors.ts";

/**
 * What is wrong: no SQLite file, another program's, a newer version's, damaged, not there while its log is, a log of
 * another copy, in use or changed by another program, no room on the disk, or refused by the system.
 */
export type FileTrouble =
  | "not_sqlite"
  | "foreign"
  | "newer"
  | "damaged"
  | "missing"
  | "stale_log"
  | "busy"
  | "changed"
  | "full"
  | "unreadable";

/** A data file that cannot be opened, or cannot be used any more. */
export class StoreFileError extends UnavailableError {
  override readonly name = "StoreFileError";
  readonly trouble: FileTrouble;

  constructor(trouble: FileTrouble, message: string, options?: ErrorOptions) {
    super(message, options);
    this.trouble = trouble;
  }
}
