import type { Clock } from "./clock.ts";

export type LogFields = Readonly<Record<string, string | number | boolean | null>>;

/** Structured log: one JSON object a line. Give it no bodies, keys or personal data. */
export interface Log {
  info(event: string, fields: LogFields): void;
  error(event: string, fields: LogFields): void;
  /** Hands over what is still waiting; lines of one turn of the event loop go out together. */
  flush(): void;
}

/** `write` is given whole lines, each with the time of `clock` in ISO 8601. */
export function createLog(write: (text: string) => void, clock: Clock): Log {
  const waiting: string[] = [];
  const flush = (): void => {
    if (waiting.length > 0) write(waiting.splice(0).join(""));
  };
  const add = (level: "info" | "error", event: string, fields: LogFields): void => {
    if (waiting.length === 0) setImmediate(flush);
    waiting.push(`${JSON.stringify({ time: new Date(clock.now()).toISOString(), level, event, ...fields })}\n`);
  };
  return {
    info: (event, fields) => add("info", event, fields),
    error: (event, fields) => add("error", event, fields),
    flush,
  };
}

/** For those who run the service within a command: nothing is written. */
export const silentLog: Log = { info: () => undefined, error: () => undefined, flush: () => undefined };
