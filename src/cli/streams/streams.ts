/** One object owns stdin, stdout and stderr: data goes to `out`, everything else to `err`. */
export interface Output {
  /** True for a terminal. */
  readonly isTTY: boolean;
  /** Width in columns; 80 when it is not a terminal. */
  readonly columns: number;
  /** Resolves when the text is handed over and the next may come (back-pressure). */
  write(text: string | Uint8Array): Promise<void>;
}

export interface Input {
  readonly isTTY: boolean;
  /** The bytes as they come, once. */
  bytes(): AsyncIterable<Uint8Array>;
  /** One typed line without its end; `secret` does not echo. Only on a terminal. */
  ask(prompt: string, options?: { readonly secret?: boolean }): Promise<string>;
}

export interface Streams {
  readonly in: Input;
  readonly out: Output;
  /**
   * Text is made safe for a terminal here and nowhere else, and under `-o json|ndjson` becomes JSON lines. Bytes are
   * the program's own control sequences (a live line) and pass as they are.
   */
  readonly err: Output;
}

/** The reader of stdout has gone (`| head`): the command ends quietly with status 0. */
export class ClosedPipeError extends Error {
  override readonly name = "ClosedPipeError";

  constructor() {
    super("the reader of standard output has gone");
  }
}
