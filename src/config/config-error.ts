/** `missing`: nothing says where to connect to, or with what. `invalid`: what says so cannot be used. `broken`: the file cannot be understood. */
export type ConfigProblem = "missing" | "invalid" | "broken";

interface ConfigErrorOptions {
  readonly hint?: string;
  readonly unknownName?: UnknownName;
  readonly cause?: unknown;
}

/** A name that is none of those that are known: what is near it is for others to say. */
export interface UnknownName {
  readonly given: string;
  readonly known: readonly string[];
}

export class ConfigError extends Error {
  override readonly name = "ConfigError";
  readonly problem: ConfigProblem;
  readonly hint: string | null;
  readonly unknownName: UnknownName | null;

  constructor(problem: ConfigProblem, message: string, options: ConfigErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.problem = problem;
    this.hint = options.hint ?? null;
    this.unknownName = options.unknownName ?? null;
  }
}
