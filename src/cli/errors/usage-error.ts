import type { Json } from "../../contract/json.ts";
import { EXIT, type ExitCode } from "../exit-codes.ts";

export interface ErrorFacts {
  /** A single line without a full stop. */
  readonly hint?: string | null;
  readonly details?: Json;
  readonly cause?: unknown;
}

export class CommandError extends Error {
  readonly code: string;
  readonly exit: ExitCode;
  readonly hint: string | null;
  readonly details: Json;

  constructor(code: string, message: string, exit: ExitCode, { hint = null, details = null, cause }: ErrorFacts = {}) {
    super(message, cause === undefined ? undefined : { cause });
    this.code = code;
    this.exit = exit;
    this.hint = hint;
    this.details = details;
  }
}

/** Bad input, before anything was sent. */
export class UsageError extends CommandError {
  override readonly name: string = "UsageError";

  constructor(message: string, options?: ErrorFacts, code = "usage") {
    super(code, message, EXIT.usage, options);
  }
}

/** The user declined or didn't answer. The message is printed without "error:", so it needs full sentences. */
export class CancelledError extends UsageError {
  constructor(message: string) {
    super(message, {}, "cancelled");
  }
}
