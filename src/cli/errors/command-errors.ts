import { EXIT, type ExitCode } from "../exit-codes.ts";

/** What the command should show or change doesn't exist. Exit status 5. */
export class NothingFoundError extends Error {
  override readonly name = "NothingFoundError";
  readonly hint: string | null;

  constructor(message: string, hint: string | null = null) {
    super(message);
    this.hint = hint;
  }
}

export interface ItemFailure {
  readonly item: string;
  readonly error: unknown;
}

/**
 * Some of several changes failed; their rows are on stdout. The exit status is that of the failure that stopped the
 * run, otherwise of the most severe one.
 */
export class ChangesFailedError extends Error {
  override readonly name = "ChangesFailedError";
  readonly failures: readonly ItemFailure[];
  /** The failure that stopped the run; null if all items were tried. */
  readonly stop: unknown;

  constructor(failures: readonly ItemFailure[], all: number, stop: unknown) {
    super(`${failures.length} of ${all} changes failed`);
    this.failures = failures;
    this.stop = stop;
  }
}

/** Exit status 6. */
export class AssertionError extends Error {
  override readonly name = "AssertionError";
  readonly failures: readonly string[];

  constructor(failures: readonly string[], message = `assertion failed: ${failures.join("; ")}`) {
    super(message);
    this.failures = failures;
  }
}

/** A problem with a data file or its service, such as a lock or a missing object. */
export class DataFileError extends Error {
  override readonly name = "DataFileError";
  readonly code: string;
  readonly hint: string | null;
  readonly exit: ExitCode;

  constructor(
    code: string,
    message: string,
    options: { readonly hint?: string; readonly exit?: ExitCode; readonly cause?: unknown } = {},
  ) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.code = code;
    this.hint = options.hint ?? null;
    this.exit = options.exit ?? EXIT.failed;
  }
}

/** An import stopped for another reason than its rows or the service. Exit status 1. */
export class ImportStoppedError extends Error {
  override readonly name = "ImportStoppedError";
  /** In the error JSON: `input_changed`, `rows_missing`, `suppression_unknown`. */
  readonly code: string;
  readonly hint: string | null;

  constructor(code: string, message: string, options: { readonly hint?: string; readonly cause?: unknown } = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.code = code;
    this.hint = options.hint ?? null;
  }
}

/** An error after the first request. Its cause is reported, but never as a usage error: exit status 1 instead. */
export class BegunError extends Error {
  override readonly name = "BegunError";

  constructor(cause: unknown) {
    super("stopped on the way", { cause });
    if (cause instanceof Error) this.stack = cause.stack ?? "";
  }
}

/** An export has fewer rows than the service counts, and would replace a file. Exit status 1. */
export class ShortExportError extends Error {
  override readonly name = "ShortExportError";
}

/** `--query` failed after the command had done its work. Exit status 1. */
export class FilterError extends Error {
  override readonly name = "FilterError";

  constructor(reason: string, cause?: unknown) {
    super(`the command was carried out, but --query: ${reason}`, { cause });
  }
}

export type StopSignal = "SIGINT" | "SIGTERM" | "SIGHUP";

const SENTENCES: Readonly<Record<StopSignal, string>> = {
  SIGINT: "Interrupted.",
  SIGTERM: "Terminated.",
  SIGHUP: "Terminated: the terminal was closed.",
};

/** `Deps.signal` aborts with it. Exit status 128 + the signal's number. */
export class InterruptedError extends Error {
  override readonly name = "InterruptedError";
  readonly signal: StopSignal;
  readonly hint: string | null;

  constructor(signal: StopSignal, hint: string | null = null) {
    super(SENTENCES[signal]);
    this.signal = signal;
    this.hint = hint;
  }
}

export function exitOfSignal(signal: StopSignal): ExitCode {
  return { SIGINT: EXIT.interrupted, SIGTERM: EXIT.terminated, SIGHUP: EXIT.hungUp }[signal];
}

/** An uncaught error. `Deps.signal` aborts with it; its cause is reported. */
export class CrashError extends Error {
  override readonly name = "CrashError";

  constructor(cause: unknown) {
    super("uncaught error", { cause });
  }
}
