import type { Interface } from "node:readline";
import type { ReadStream, WriteStream } from "node:tty";
import type { Process } from "../process.ts";
import { InterruptedError } from "../errors/command-errors.ts";
import { toSafeLines } from "../render/safe-text.ts";
import { CancelledError, UsageError } from "../errors/usage-error.ts";
import type { Input } from "./streams.ts";

/** Always restores the terminal's mode. Rejects with the signal's reason. */
export function createAsk(process: Pick<Process, "stdin" | "stderr">, signal: AbortSignal): Input["ask"] {
  // If several lines are pasted, the rest answer the next questions.
  const typedAhead: string[] = [];
  return async (question, { secret = false } = {}) => {
    const prompt = toSafeLines(question);
    const { stdin: input, stderr: screen } = process;
    if (!input.isTTY || !screen.isTTY) throw new UsageError("there is no terminal to ask on");
    signal.throwIfAborted();
    const next = typedAhead.shift();
    if (next !== undefined) {
      screen.write(`${prompt}\n`);
      return next;
    }
    const lines = await openLines(input, screen, secret);
    let isAnswered = false;
    try {
      if (secret) screen.write(prompt);
      const answer = await readAnswer(lines, secret ? "" : prompt, signal, typedAhead);
      isAnswered = true;
      return answer;
    } finally {
      lines.close();
      // The cursor is still on the prompt's line.
      if (secret || !isAnswered) screen.write("\n");
    }
  };
}

async function openLines(input: ReadStream, screen: WriteStream, secret: boolean): Promise<Interface> {
  const { createInterface } = await import("node:readline");
  const { Writable } = await import("node:stream");
  const silent = new Writable({ write: (_chunk, _encoding, done) => done() });
  return createInterface({ input, output: secret ? silent : screen, terminal: true, historySize: 0 });
}

function readAnswer(lines: Interface, prompt: string, signal: AbortSignal, typedAhead: string[]): Promise<string> {
  return new Promise((resolve, reject) => {
    const stop = (): void => reject(signal.reason as Error);
    signal.addEventListener("abort", stop, { once: true });
    lines.question(prompt, resolve);
    lines.on("line", (line) => typedAhead.push(line));
    lines.on("close", () => {
      signal.removeEventListener("abort", stop);
      reject(new CancelledError("No input. Nothing was changed."));
    });
    // Readline puts the terminal into raw mode, so Ctrl-C arrives as a key press instead of a signal.
    lines.on("SIGINT", () => reject(new InterruptedError("SIGINT")));
  });
}
