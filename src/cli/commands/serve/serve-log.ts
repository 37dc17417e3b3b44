import type { Clock } from "../../../runtime/clock.ts";
import { createLog, type Log, type LogFields } from "../../../runtime/log.ts";
import type { Deps } from "../../kit/deps.ts";

export const LOG_FORMATS = ["text", "json"] as const;
export type LogFormat = (typeof LOG_FORMATS)[number];

export interface ServeLog extends Log {
  readonly isJson: boolean;
  /** Like `info`, but also written with `--quiet`. */
  readonly say: Log["info"];
}

/**
 * By default writes JSON lines, or only notes if stderr is a terminal. `--verbose` adds a line per request; `--quiet`
 * shows only errors.
 */
export function createServeLog({ streams, clock, options }: Deps, format: LogFormat | null): ServeLog {
  const write = (text: string): Promise<void> => streams.err.write(text);
  const isJson =
    format === "json" ||
    (format === null && !streams.err.isTTY) ||
    options.output === "json" ||
    options.output === "ndjson";
  const lines = withHints(isJson ? createLog(write, clock) : createTextLog(write, clock));
  const say: Log["info"] = (event, fields) => lines.info(event, fields);
  const log = { ...lines, isJson, say };
  if (options.quiet) return { ...log, info: silent, warn: silent };
  if (isJson || format !== null || options.verbosity > 0) return log;
  return { ...log, info: (event, fields) => ("message" in fields ? log.info(event, fields) : undefined) };
}

const HINTS: Readonly<Record<string, string>> = {
  no_time_zone: "`surveyctl service settings --tz ZONE` sets one",
  sending_paused: "`surveyctl service delivery status` counts what waits, `service resume` sends it",
  sms_unreadable: "with one country, `serve --sms-countries +44` reads its national numbers",
  surveys_overdue: "`surveyctl service delivery list --state held` shows them, `service delivery resume` sends them",
};

function withHints(log: Log): Log {
  return {
    ...log,
    warn: (event, fields) => log.warn(event, event in HINTS ? { ...fields, hint: HINTS[event] ?? "" } : fields),
  };
}

const silent = (): void => undefined;

function createTextLog(write: (text: string) => Promise<void>, clock: Clock): Log {
  const line = (text: string): void => void write(`${new Date(clock.now()).toTimeString().slice(0, 8)} ${text}\n`);
  return {
    info: (event, fields) => {
      if ("message" in fields) void write(`note: ${String(fields.message)}\n`);
      else line(event === "request" ? describeRequest(fields) : describe(event, fields));
    },
    warn: (event, fields) => line(`warning: ${describe(event, fields)}`),
    error: (event, fields) => line(`error: ${describe(event, fields)}`),
    flush: () => undefined,
  };
}

function describeRequest({ method, path, status, duration_ms: duration }: LogFields): string {
  return `${String(method)} ${String(path)} ${String(status)} ${Math.ceil(Number(duration))} ms`;
}

function describe(event: string, fields: LogFields): string {
  if (typeof fields.message === "string")
    return typeof fields.hint === "string" ? `${fields.message}; ${fields.hint}` : fields.message;
  return [event, ...Object.entries(fields).map(([name, value]) => `${name}=${String(value)}`)].join(" ");
}
