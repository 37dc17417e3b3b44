/** An import could not go on, through no fault of its rows or of the service. Exit status 1. */
export class ImportStoppedError extends Error {
  override readonly name = "ImportStoppedError";
  /** As in the error JSON: `input_changed`, `rows_missing`, `suppression_unknown`. */
  readonly code: string;
  readonly hint: string | null;

  constructor(code: string, message: string, options: { readonly hint?: string; readonly cause?: unknown } = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.code = code;
    this.hint = options.hint ?? null;
  }
}
