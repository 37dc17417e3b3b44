/** What `--verbose` is told about; text is made in `trace.ts`, where it is masked. */
export type TraceEvent =
  | {
      readonly kind: "request";
      /** Counts the exchanges of this process from 1. */
      readonly number: number;
      readonly method: string;
      readonly url: string;
      readonly headers: Readonly<Record<string, string>>;
      readonly body: string | null;
    }
  | {
      readonly kind: "response";
      readonly number: number;
      readonly status: number;
      readonly headers: Readonly<Record<string, string>>;
      readonly durationMs: number;
      /** Null when the body could not be read. */
      readonly body: string | null;
    }
  | { readonly kind: "failure"; readonly number: number; readonly message: string; readonly durationMs: number };

export type Trace = (event: TraceEvent) => void;

/** A wait before a repeat: what, how long, why. */
export interface Wait {
  readonly method: string;
  readonly url: string;
  readonly waitMs: number;
  /** The failure's message, the service's words included. */
  readonly reason: string;
  /** The repeat that comes after it, from 1, and how many there may be. */
  readonly repeat: number;
  readonly retries: number;
}
