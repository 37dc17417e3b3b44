import type { ReadStream, WriteStream } from "node:tty";
import { UsageError } from "../errors/usage-error.ts";

/** One line typed on a terminal. Without echo when `secret`; the terminal is put back whatever happens. */
export async function ask(input: ReadStream, screen: WriteStream, prompt: string, secret: boolean): Promise<string> {
  if (!input.isTTY) throw new UsageError("there is no terminal to ask on");
  const { createInterface } = await import("node:readline");
  const { Writable } = await import("node:stream");
  const silent = new Writable({ write: (_chunk, _encoding, done) => done() });
  const lines = createInterface({ input, output: secret ? silent : screen, terminal: true });
  try {
    if (secret) screen.write(prompt);
    return await new Promise((resolve, reject) => {
      lines.question(secret ? "" : prompt, resolve);
      lines.on("close", () => reject(new UsageError("no answer was given; nothing was done")));
      lines.on("SIGINT", () => reject(new UsageError("interrupted at the question; nothing was done")));
    });
  } finally {
    if (secret) screen.write("\n");
    lines.close();
  }
}
