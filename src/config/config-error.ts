/** `missing`: nothing says where to connect to, or with what. `invalid`: what says so cannot be used. */
export type ConfigProblem = "missing" | "invalid";

export class ConfigError extends Error {
  override readonly name = "ConfigError";
  readonly problem: ConfigProblem;
  readonly hint: string | null;

  constructor(problem: ConfigProblem, message: string, options: { readonly hint?: string; readonly cause?: unknown } = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.problem = problem;
    this.hint = options.hint ?? null;
  }
}
