import { EXIT, type ExitCode } from "../exit-codes.ts";

/** A data file, or the service that keeps it, cannot do what was asked: it is in use, is no data file, knows no such thing. */
export class DataFileError extends Error {
  override readonly name = "DataFileError";
  readonly code: string;
  readonly hint: string | null;
  readonly exit: ExitCode;

  constructor(
    code: string,
    message: string,
    options: { readonly hint?: string; readonly exit?: ExitCode; readonly cause?: unknown } = {},
  ) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.code = code;
    this.hint = options.hint ?? null;
    this.exit = options.exit ?? EXIT.failed;
  }
}
