/** Standard input and output as the library's transport takes them. Input ends when every request of it is answered. */
import { Readable, Writable } from "node:stream";
import { isJsonObject, type Json, parseJsonObject } from "../../../contract/json.ts";
import type { Deps } from "../../command/deps.ts";

export interface Pipe {
  readonly input: Readable;
  readonly output: Writable;
  /** Resolves when the input has ended and all of it is answered. */
  readonly ended: Promise<void>;
}

export function openPipe({ streams, signal }: Deps): Pipe {
  const open = new Set<string>();
  const state = { answered: (): void => undefined, end: (): void => undefined };
  const ended = new Promise<void>((resolve) => {
    state.end = resolve;
  });
  async function* read(): AsyncGenerator<Uint8Array> {
    for await (const line of linesOf(streams.in.bytes())) {
      const message = parseJsonObject(line);
      if (message !== null && "method" in message && "id" in message) open.add(JSON.stringify(message["id"]));
      // The library gives a request that was cancelled no answer.
      if (message?.["method"] === "notifications/cancelled") open.delete(cancelledId(message));
      yield Buffer.from(`${line}\n`);
    }
    while (open.size > 0 && !signal.aborted)
      await new Promise<void>((resolve) => {
        state.answered = resolve;
      });
    state.end();
  }
  const output = new Writable({
    write: (chunk: Buffer, _, done) => {
      const message = parseJsonObject(chunk.toString("utf8"));
      if (message !== null && !("method" in message)) open.delete(JSON.stringify(message["id"] ?? null));
      void streams.out.write(chunk).finally(() => done());
      state.answered();
    },
  });
  signal.addEventListener("abort", () => state.end(), { once: true });
  return { input: Readable.from(read(), { objectMode: false }), output, ended };
}

async function* linesOf(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  let rest = "";
  const decoder = new TextDecoder();
  for await (const part of bytes) {
    const lines = (rest + decoder.decode(part, { stream: true })).split("\n");
    rest = lines.pop() ?? "";
    yield* lines;
  }
  if (rest !== "") yield rest;
}

function cancelledId({ params }: Readonly<Record<string, Json>>): string {
  return JSON.stringify((isJsonObject(params) ? params["requestId"] : null) ?? null);
}
