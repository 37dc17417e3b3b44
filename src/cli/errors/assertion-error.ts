/** One or more `--assert` did not hold; the data is on stdout already. Exit status 6. */
export class AssertionError extends Error {
  override readonly name = "AssertionError";
  readonly failures: readonly string[];

  constructor(failures: readonly string[]) {
    super(`assertion failed: ${failures.join("; ")}`);
    this.failures = failures;
  }
}
