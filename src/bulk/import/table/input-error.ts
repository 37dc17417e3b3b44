/** What would mend an input; whoever knows how it is said puts it into words. */
export type InputFix =
  | { readonly kind: "map"; readonly columns: readonly { readonly header: string; readonly field: string }[] }
  | { readonly kind: "ignore"; readonly header: string };

/** The input cannot be read as a table at all, or its header cannot be used; nothing was sent. */
export class InputError extends Error {
  override readonly name = "InputError";
  readonly hint: string | null;
  readonly fix: InputFix | null;

  constructor(
    message: string,
    options: { readonly hint?: string; readonly fix?: InputFix; readonly cause?: unknown } = {},
  ) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.hint = options.hint ?? null;
    this.fix = options.fix ?? null;
  }
}
