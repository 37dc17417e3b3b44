import type { Json } from "../../contract/json.ts";

/** A wrong flag, value, row or combination; nothing was sent. Exit status 2. */
export class UsageError extends Error {
  override readonly name: string = "UsageError";
  /** The advice, one line without a dot; null when the message says it all. */
  readonly hint: string | null;
  /** For the error JSON: the problems of an import's rows. */
  readonly details: Json;

  constructor(
    message: string,
    options: { readonly hint?: string; readonly details?: Json; readonly cause?: unknown } = {},
  ) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.hint = options.hint ?? null;
    this.details = options.details ?? null;
  }
}

/**
 * The person declined, or gave no answer; the message is full sentences, since it is printed without "error:". Exit
 * status 2.
 */
export class CancelledError extends UsageError {}
