import { wantsColor, wantsJson, type Environment } from "../args/environment.ts";
import { Chalk } from "chalk";
import { createRedactor } from "../../client/trace/redact.ts";
import type { ExitCode } from "../exit-codes.ts";
import type { Streams } from "../streams/streams.ts";
import { describeError, type ErrorReport } from "./describe-error.ts";

export interface ErrorStyle {
  readonly json: boolean;
  readonly verbose: boolean;
  readonly color?: boolean;
  readonly keys: readonly string[];
}

export async function reportError(error: unknown, streams: Pick<Streams, "err">, style: ErrorStyle): Promise<ExitCode> {
  const { exit, each, ...described } = describeError(error, style.verbose);
  const stack = style.verbose && error instanceof Error && described.code === "internal" ? (error.stack ?? "") : "";
  const text = style.json
    ? `${JSON.stringify({ error: described })}\n${stack === "" ? "" : `${JSON.stringify({ note: stack })}\n`}`
    : `${toLines(described, each)}${stack === "" ? "" : `${stack}\n`}`;
  const safe = createRedactor(style.keys)(text);
  if (style.color === true && !style.json) await writeRed(streams, safe);
  else await streams.err.write(safe);
  return exit;
}

const HEADING = "error:";
const HEADING_AT_START = /^(?=error:)/m;

async function writeRed({ err }: Pick<Streams, "err">, text: string): Promise<void> {
  const red = Buffer.from(new Chalk({ level: 1 }).red(HEADING));
  for (const part of text.split(HEADING_AT_START)) {
    // Written as bytes, so that the color codes aren't escaped.
    if (part.startsWith(HEADING)) await err.write(red);
    await err.write(part.startsWith(HEADING) ? part.slice(HEADING.length) : part);
  }
}

/** Ctrl-C is not an error. */
function toLines(
  { code, message, hint }: Pick<ErrorReport, "code" | "message" | "hint">,
  each: readonly string[] = [message],
): string {
  const isError = code !== "interrupted" && code !== "cancelled";
  const lines = each.map((line) => `${isError ? `${HEADING} ` : ""}${line}\n`).join("");
  return `${lines}${hint === null ? "" : `hint: ${hint.replaceAll("\n", "\n      ")}\n`}`;
}

/** With this flag, `serve` writes only JSON to stderr. */
const JSON_LOG = /(?:^| )--log-format[ =]json(?: |$)/;

/** Looks at the raw words, because the error may come from parsing them. */
export function readErrorStyle(
  args: readonly string[],
  env: Environment,
  { keys = [], isTTY = false }: { readonly keys?: Iterable<string>; readonly isTTY?: boolean } = {},
): ErrorStyle {
  const debug = env["SURVEYCTL_DEBUG"] ?? "";
  const verbose = args.some((arg) => arg === "--verbose" || /^-[a-z]*v[a-z]*$/.test(arg));
  return {
    json: wantsJson(args, env) || JSON_LOG.test(args.join(" ")),
    color: !args.includes("--no-color") && wantsColor(env, isTTY),
    verbose: verbose || !["", "0"].includes(debug),
    keys: [...keys, env["SURVEYCTL_API_KEY"] ?? ""],
  };
}
