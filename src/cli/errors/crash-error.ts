/** An error that nobody caught, wherever it came from; the reason that `Deps.signal` aborts with. It is told as its cause. */
export class CrashError extends Error {
  override readonly name = "CrashError";

  constructor(cause: unknown) {
    super("an error was not caught", { cause });
  }
}
