import type { ReadStream, WriteStream } from "node:tty";
import { parseJson } from "../../contract/json.ts";
import { systemClock, withTimeout } from "../../runtime/clock.ts";
import { onAbort } from "../../runtime/on-abort.ts";
import type { Process } from "../process.ts";
import { toSafeLines } from "../render/safe-text.ts";
import { createAsk } from "./ask.ts";
import { ClosedPipeError, type Output, type Streams } from "./streams.ts";

export interface ProcessStreams extends Streams {
  flush(): Promise<void>;
  /** Drops pending text for stderr, so that the process can end even if no one reads it. */
  leave(): Promise<void>;
}

const COLUMNS_DEFAULT = 80;

export interface ProcessStreamsOptions {
  /** Called once, with ClosedPipeError or the system's error, such as a full disk. */
  readonly onOutputLost: (error: Error) => void;
  readonly signal: AbortSignal;
  readonly jsonErrors: boolean;
}

export function createProcessStreams(
  process: Pick<Process, "stdin" | "stdout" | "stderr">,
  { onOutputLost, signal, jsonErrors }: ProcessStreamsOptions,
): ProcessStreams {
  const out = openLater(() => createOutput(process.stdout, onOutputLost));
  const { err, leave } = createErrorOutput(process, jsonErrors);
  return {
    in: {
      // Node opens stdin on first use, and most commands never read it.
      get isTTY() {
        return process.stdin.isTTY;
      },
      bytes: () => bytesOf(process.stdin, signal),
      ask: createAsk(process, signal),
    },
    out,
    err,
    flush: async () => {
      if (out.isOpen()) await out.write("");
    },
    leave,
  };
}

/** Node opens a stream on first use, and many commands don't use both. */
function openLater(open: () => Output): Output & { isOpen(): boolean } {
  let opened: Output | null = null;
  const get = (): Output => (opened ??= open());
  return {
    get isTTY() {
      return get().isTTY;
    },
    get columns() {
      return get().columns;
    },
    write: (text) => get().write(text),
    isOpen: () => opened !== null,
  };
}

async function* bytesOf(stdin: ReadStream, signal: AbortSignal): AsyncGenerator<Uint8Array> {
  signal.throwIfAborted();
  const release = onAbort(signal, () => void stdin.destroy(signal.reason as Error));
  try {
    yield* stdin as AsyncIterable<Uint8Array>;
  } finally {
    release();
  }
}

const LEAVE_MS = 500;

function createErrorOutput(process: Pick<Process, "stderr">, json: boolean) {
  let untaken = 0;
  const output = openLater(() => createOutput(process.stderr, () => undefined));
  const write = output.write.bind(output);
  const err: Output = Object.assign(output, {
    // If stderr fails, the text is lost but not the exit status.
    write: async (text: string | Uint8Array) => {
      untaken += 1;
      await write(typeof text === "string" ? toErrorText(text, json) : json ? "" : text).catch(() => undefined);
      untaken -= 1;
    },
  });
  const leave = async (): Promise<void> => {
    if (untaken === 0) return;
    const written = err.write("").then(() => true);
    if (await withTimeout(systemClock, LEAVE_MS, written, false)) return;
    // Node never closes stderr, and a pending write keeps the process alive.
    const { Socket } = await import("node:net");
    if (process.stderr instanceof Socket) Socket.prototype._destroy.call(process.stderr, null, () => undefined);
  };
  return { err, leave };
}

/** Everything written to stderr goes through this function. */
export function toErrorText(text: string, json: boolean): string {
  return toSafeLines(json ? toJsonLines(text) : text);
}

/** Prose becomes an object with one key, `{"note":"…"}` or `{"warning":"…"}`; errors and log lines are JSON already. */
function toJsonLines(text: string): string {
  return text
    .split("\n")
    .filter((line) => line.trim() !== "")
    .map((line) => `${isJsonObjectText(line) ? line : wrap(line.trim())}\n`)
    .join("");
}

function wrap(line: string): string {
  const [, key = "note", message = line] = /^(note|warning): (.*)$/s.exec(line) ?? [];
  return JSON.stringify({ [key]: message });
}

function isJsonObjectText(line: string): boolean {
  return line.startsWith("{") && line.endsWith("}") && parseJson(line) !== undefined;
}

function createOutput(stream: WriteStream, onLost: (error: Error) => void): Output {
  const state: { lost: Error | null } = { lost: null };
  stream.on("error", (error: NodeJS.ErrnoException) => {
    if (state.lost !== null) return;
    state.lost = toLost(error);
    onLost(state.lost);
  });
  return {
    isTTY: stream.isTTY,
    get columns() {
      return stream.isTTY && stream.columns > 0 ? stream.columns : COLUMNS_DEFAULT;
    },
    write: (text) =>
      new Promise((resolve, reject) => {
        if (state.lost !== null) {
          reject(state.lost);
          return;
        }
        // Waiting for the callback applies back-pressure: it is called once the system has the text.
        stream.write(text, (error) => (error ? reject(state.lost ?? toLost(error)) : resolve()));
      }),
  };
}

function toLost(error: NodeJS.ErrnoException): Error {
  return error.code === "EPIPE" ? new ClosedPipeError() : error;
}
