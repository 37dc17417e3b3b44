import type { Environment } from "../args/read-global-options.ts";

/** Whether stderr is for machines: from the raw words and the environment, since reading them properly may be what fails. */
export function wantsJson(args: readonly string[], env: Environment): boolean {
  const format = lastOutput(args) ?? env["SURVEYCTL_OUTPUT"];
  return args.includes("--json") || format === "json" || format === "ndjson";
}

function lastOutput(args: readonly string[]): string | undefined {
  const at = args.findLastIndex((arg) => /^(?:-o|--output)(?:=|$)/.test(arg) || /^-o./.test(arg));
  const arg = args[at];
  if (arg === undefined) return undefined;
  return arg === "-o" || arg === "--output" ? args[at + 1] : arg.replace(/^(?:--output=|-o=?)/, "");
}
