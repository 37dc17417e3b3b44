/** What a command was asked to show or work on is not there, although the service answered well. Exit status 5. */
export class NotFoundError extends Error {
  override readonly name = "NotFoundError";
  readonly hint: string | null;

  constructor(message: string, hint: string | null = null) {
    super(message);
    this.hint = hint;
  }
}
