import type { Environment } from "../args/read-global-options.ts";
import { createRedactor } from "../../client/trace/redact.ts";
import type { ExitCode } from "../exit-codes.ts";
import { toSafeLines } from "../render/safe-text.ts";
import type { Streams } from "../streams/streams.ts";
import { describeError } from "./describe-error.ts";

export interface ErrorStyle {
  /** `-o json` or `ndjson` was asked for: one JSON object follows. */
  readonly json: boolean;
  /** Show where a mistake of ours happened. */
  readonly stack: boolean;
  /** The keys that are in use: none is printed, in no form. */
  readonly keys: readonly string[];
}

/** Prints `error:` and `hint:` on stderr, as JSON too where asked, and gives the exit status. */
export async function reportError(error: unknown, streams: Pick<Streams, "err">, style: ErrorStyle): Promise<ExitCode> {
  const { exit, ...described } = describeError(error);
  const hint = described.hint === null ? "" : `hint: ${described.hint.replaceAll("\n", "\n      ")}\n`;
  const stack = style.stack && error instanceof Error && described.code === "internal" ? `${error.stack ?? ""}\n` : "";
  const json = style.json ? `${JSON.stringify({ error: described })}\n` : "";
  await streams.err.write(toSafeLines(withoutKeys(`error: ${described.message}\n${hint}${stack}${json}`, style.keys)));
  return exit;
}

function withoutKeys(text: string, keys: readonly string[]): string {
  return createRedactor(keys)(text);
}

/** From the raw words and the environment, since reading them properly may be what failed. */
export function readErrorStyle(args: readonly string[], env: Environment, keys: Iterable<string> = []): ErrorStyle {
  const debug = env["SURVEYCTL_DEBUG"] ?? "";
  const verbose = args.some((arg) => arg === "--verbose" || /^-[a-z]*v[a-z]*$/.test(arg));
  return {
    json: wantsJson(args, env),
    stack: verbose || !["", "0"].includes(debug),
    keys: [...keys, env["SURVEYCTL_API_KEY"] ?? ""],
  };
}

/** Whether errors are wanted as JSON too. */
function wantsJson(args: readonly string[], env: Environment): boolean {
  const format = lastOutput(args) ?? env["SURVEYCTL_OUTPUT"];
  return args.includes("--json") || format === "json" || format === "ndjson";
}

function lastOutput(args: readonly string[]): string | undefined {
  const at = args.findLastIndex((arg) => /^(?:-o|--output)(?:=|$)/.test(arg) || /^-o./.test(arg));
  const arg = args[at];
  if (arg === undefined) return undefined;
  return arg === "-o" || arg === "--output" ? args[at + 1] : arg.replace(/^(?:--output=|-o=?)/, "");
}
