import type { Json } from "../../contract/json.ts";

/** Nothing was sent. Exit status 2. */
export class UsageError extends Error {
  override readonly name: string = "UsageError";
  /** One line without a full stop. */
  readonly hint: string | null;
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
 * The user declined or didn't answer. The message is printed without "error:", so it's full sentences. Exit status 2.
 */
export class CancelledError extends UsageError {}
