/** The input cannot be read as a table at all, or its header cannot be used; nothing was sent. */
export class InputError extends Error {
  override readonly name = "InputError";
  readonly hint: string | null;

  constructor(message: string, options: { readonly hint?: string; readonly cause?: unknown } = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.hint = options.hint ?? null;
  }
}
