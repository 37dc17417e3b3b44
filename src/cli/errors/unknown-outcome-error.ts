/** A write whose answer was lost and that no look-up could settle: neither done nor failed. Exit status 1. */
export class UnknownOutcomeError extends Error {
  override readonly name = "UnknownOutcomeError";
  /** What to look at before trying again. */
  readonly hint: string;

  constructor(cause: Error, hint: string) {
    super(`unknown whether the request arrived: ${cause.message}`, { cause });
    this.hint = hint;
  }
}
