/** Data goes to `out`, everything else to `err`. */
export interface Output {
  readonly isTTY: boolean;
  /** Width in columns; 80 if it isn't a terminal. */
  readonly columns: number;
  /** Resolves when more may be written (back-pressure). */
  write(text: string | Uint8Array): Promise<void>;
}

export interface Input {
  readonly isTTY: boolean;
  bytes(): AsyncIterable<Uint8Array>;
  /** Reads one line from the terminal; `secret` doesn't echo it. */
  ask(prompt: string, options?: { readonly secret?: boolean }): Promise<string>;
}

export interface Streams {
  readonly in: Input;
  readonly out: Output;
  /**
   * Text is escaped for terminals here and nowhere else, and becomes JSON lines with `-o json|ndjson`. Bytes are our
   * own control sequences and stay as they are.
   */
  readonly err: Output;
}

/** Stdout was closed, as by `| head`: the command ends quietly with status 0. */
export class ClosedPipeError extends Error {
  override readonly name = "ClosedPipeError";

  constructor() {
    super("the reader of standard output has gone");
  }
}
