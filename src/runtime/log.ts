import type { Clock } from "./clock.ts";

export type LogFields = Readonly<Record<string, string | number | boolean | null>>;

/** One JSON object per line. Never log bodies, keys or personal data. */
export interface Log {
  info(event: string, fields: LogFields): void;
  warn(event: string, fields: LogFields): void;
  error(event: string, fields: LogFields): void;
  flush(): void;
}

type Level = "info" | "warn" | "error";

/** While this many characters are unread, further lines are dropped and counted. */
const WAITING_CHARACTERS_MAX = 1_000_000;

/** `write` gets whole lines and resolves when they are accepted. The field `message` is logged as `msg`. */
export function createLog(write: (text: string) => Promise<void>, clock: Clock): Log {
  const waiting: string[] = [];
  const state = { unread: 0, dropped: 0 };
  const format = (level: Level, event: string, { message, ...fields }: LogFields): string => {
    const head = { time: new Date(clock.now()).toISOString(), level, event };
    return `${JSON.stringify({ ...head, msg: message ?? event.replaceAll("_", " "), ...fields })}\n`;
  };
  const pass = async (text: string): Promise<void> => {
    state.unread += text.length;
    await write(text);
    state.unread -= text.length;
    const { dropped } = state;
    if (dropped === 0 || state.unread > 0) return;
    state.dropped = 0;
    void pass(format("warn", "log_dropped", { lines: dropped }));
  };
  const flush = (): void => {
    const lines = waiting.splice(0);
    if (lines.length === 0) return;
    if (state.unread > WAITING_CHARACTERS_MAX) state.dropped += lines.length;
    else void pass(lines.join(""));
  };
  const add = (level: Level, event: string, fields: LogFields): void => {
    if (waiting.length === 0) setImmediate(flush);
    waiting.push(format(level, event, fields));
  };
  return {
    info: (event, fields) => add("info", event, fields),
    warn: (event, fields) => add("warn", event, fields),
    error: (event, fields) => add("error", event, fields),
    flush,
  };
}

export const silentLog: Log = {
  info: () => undefined,
  warn: () => undefined,
  error: () => undefined,
  flush: () => undefined,
};

export async function withoutWarning<Result>(text: string, work: () => Promise<Result>): Promise<Result> {
  const emitWarning = process.emitWarning.bind(process);
  process.emitWarning = (warning: string | Error, ...rest: unknown[]): void => {
    if (!String(warning).includes(text)) Reflect.apply(emitWarning, undefined, [warning, ...rest]);
  };
  try {
    return await work();
  } finally {
    process.emitWarning = emitWarning;
  }
}
