/** `missing`: no address or key is configured. `invalid`: a value can't be used. `broken`: the file can't be read. */
export type ConfigProblem = "missing" | "invalid" | "broken";

export type ConfigAdvice =
  | {
      readonly code:
        | "allow_http"
        | "connect"
        | "protect_file"
        | "repair_file"
        | "replace_key_command"
        | "set_base_url"
        | "set_key"
        | "set_own_key";
    }
  | { readonly code: "choose_default"; readonly saved: readonly string[] }
  | UnknownProfile;

export interface UnknownProfile {
  readonly code: "unknown_profile";
  readonly given: string;
  readonly known: readonly string[];
  readonly mayCreate: boolean;
}

export class ConfigError extends Error {
  override readonly name = "ConfigError";
  readonly problem: ConfigProblem;
  readonly advice: ConfigAdvice | null;

  constructor(problem: ConfigProblem, message: string, advice: ConfigAdvice | null = null, options?: ErrorOptions) {
    super(message, options);
    this.problem = problem;
    this.advice = advice;
  }
}
