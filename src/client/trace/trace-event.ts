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

interface WaitFacts {
  readonly method: string;
  readonly url: string;
  readonly waitMs: number;
  /** The failure's message, the service's words included. */
  readonly reason: string;
  /** The same for failures of one kind, whatever the words and figures of each. */
  readonly cause: string;
  /** False for one of several waits that share a pause which was told already. */
  readonly isNews: boolean;
}

/** Why nothing happens just now. */
export type Wait =
  /** Before the repeat of that number, from 1, of so many there may be. */
  | (WaitFacts & { readonly kind: "retry"; readonly repeat: number; readonly retries: number })
  /** A write's answer was lost: for up to `waitMs` the service is asked whether it arrived. */
  | (WaitFacts & { readonly kind: "check" });

/** Told when a wait begins; what it returns is called at its end. */
export type OnWait = (wait: Wait) => (() => void) | void;
