/**
 * A write whose answer was lost and that no look-up could settle: neither done nor failed. Exit status 1.
 * The message is the client's own; what is added is where to look before the next try.
 */
export class UnknownOutcomeError extends Error {
  override readonly name = "UnknownOutcomeError";
  /** What to look at before trying again. */
  readonly hint: string;

  constructor(cause: Error, hint: string) {
    super(cause.message, { cause });
    this.hint = hint;
  }
}
