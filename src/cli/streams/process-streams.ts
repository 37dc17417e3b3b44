import type { ReadStream, WriteStream } from "node:tty";
import { parseJson } from "../../contract/json.ts";
import { systemClock } from "../../runtime/clock.ts";
import { onAbort } from "../../runtime/on-abort.ts";
import type { Process } from "../process.ts";
import { toSafeLines } from "../render/safe-text.ts";
import { createAsk } from "./ask.ts";
import { ClosedPipeError, type Output, type Streams } from "./streams.ts";

export interface ProcessStreams extends Streams {
  /** Resolves when everything written has left the process; rejects with what went wrong with stdout. */
  flush(): Promise<void>;
  /** Lets the process end although its stderr is not read: text that is not taken soon is dropped. */
  leave(): Promise<void>;
}

const COLUMNS_DEFAULT = 80;

export interface ProcessStreamsOptions {
  /** Called once when stdout can take no more: with ClosedPipeError, or the system's error (a full disk). */
  readonly onOutputLost: (error: Error) => void;
  /** Ends a question that has no answer yet, and the wait for input that does not come. */
  readonly signal: AbortSignal;
  /** True when stderr holds JSON lines only. */
  readonly jsonErrors: boolean;
}

export function createProcessStreams(
  process: Pick<Process, "stdin" | "stdout" | "stderr">,
  { onOutputLost, signal, jsonErrors }: ProcessStreamsOptions,
): ProcessStreams {
  let opened: Output | null = null;
  const open = (): Output => (opened ??= createOutput(process.stdout, onOutputLost));
  const { err, leave } = createErrorOutput(process, jsonErrors);
  return {
    in: {
      // Node opens stdin at its first use, and most commands never read it.
      get isTTY() {
        return process.stdin.isTTY;
      },
      bytes: () => bytesOf(process.stdin, signal),
      ask: createAsk(process, signal),
    },
    out: {
      get isTTY() {
        return open().isTTY;
      },
      get columns() {
        return open().columns;
      },
      write: (text) => open().write(text),
    },
    err,
    flush: async () => await opened?.write(""),
    leave,
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

/** A reader that is alive takes what waits for it sooner. */
const LEAVE_MS = 500;

/** Node opens stderr at its first use, and most commands write nothing to it. */
function createErrorOutput(
  process: Pick<Process, "stderr">,
  json: boolean,
): {
  readonly err: Output;
  readonly leave: () => Promise<void>;
} {
  let opened: Output | null = null;
  let untaken = 0;
  const open = (): Output => (opened ??= createOutput(process.stderr, () => undefined));
  const err: Output = {
    get isTTY() {
      return open().isTTY;
    },
    get columns() {
      return open().columns;
    },
    // Text that stderr cannot take is lost; the exit status remains.
    write: async (text) => {
      untaken += 1;
      await open()
        .write(typeof text === "string" ? toErrorText(text, json) : json ? "" : text)
        .catch(() => undefined);
      untaken -= 1;
    },
  };
  const leave = async (): Promise<void> => {
    if (untaken === 0) return;
    const taken = new AbortController();
    void err.write("").then(() => taken.abort());
    const isLate = await systemClock.sleep(LEAVE_MS, taken.signal).then(
      () => true,
      () => false,
    );
    if (!isLate) return;
    // Node never closes its own stderr, and a write that waits keeps the process alive.
    const { Socket } = await import("node:net");
    if (process.stderr instanceof Socket) Socket.prototype._destroy.call(process.stderr, null, () => undefined);
  };
  return { err, leave };
}

/** The one place that everything on its way to stderr passes. */
export function toErrorText(text: string, json: boolean): string {
  return toSafeLines(json ? toJsonLines(text) : text);
}

/**
 * Stderr for machines: one JSON object a line, known by its only key. Each line of prose becomes `{"note":"…"}`, or
 * `{"warning":"…"}` where it is one; what is a JSON object already (an error, a log line) stays as it is. Empty lines
 * are left out.
 */
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
    state.lost = error.code === "EPIPE" ? new ClosedPipeError() : error;
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
        // The callback comes when the text has been handed to the system: that is the back-pressure.
        stream.write(text, (error) => (error ? reject(state.lost ?? toLost(error)) : resolve()));
      }),
  };
}

function toLost(error: NodeJS.ErrnoException): Error {
  return error.code === "EPIPE" ? new ClosedPipeError() : error;
}
