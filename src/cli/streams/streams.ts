export interface Output {
  readonly isTTY: boolean;
  readonly columns: number;
  /** Resolves when the caller may write more (back-pressure). */
  write(text: string | Uint8Array): Promise<void>;
}

export interface Input {
  readonly isTTY: boolean;
  bytes(): AsyncIterable<Uint8Array>;
  /** Reads one line from the terminal. With `secret`, the line isn't echoed. */
  ask(prompt: string, options?: { readonly secret?: boolean }): Promise<string>;
}

export interface Streams {
  readonly in: Input;
  readonly out: Output;
  /**
   * Text is escaped for terminals, or becomes JSON lines with `-o json|ndjson`. Bytes are our own control sequences and
   * aren't escaped.
   */
  readonly err: Output;
}

/** Someone closed stdout, as `| head` does. The command ends with status 0. */
export class ClosedPipeError extends Error {
  override readonly name = "ClosedPipeError";

  constructor() {
    super("the reader of standard output has gone");
  }
}
