/** The promise of each exit status (documented under `surveyctl help exit-codes`). */
export const EXIT = {
  done: 0,
  /** The network or the service failed, after retries. */
  failed: 1,
  /** Unknown command or flag, a bad value, an input file with invalid rows; nothing was sent. */
  usage: 2,
  /** Bulk work ended with some rows failed or unknown; the results file says which. */
  partial: 3,
  /** No connection configured, or the key was refused (401, 403). */
  auth: 4,
  /** The service refused the request (other 4xx), or `get` found nothing. */
  refused: 5,
  /** An `--assert` or a check failed. */
  assertion: 6,
  hungUp: 129,
  interrupted: 130,
  terminated: 143,
} as const;

export type ExitCode = (typeof EXIT)[keyof typeof EXIT];

/** The words of help, the man page and `help --json` for each. */
export const EXIT_MEANINGS: Readonly<Record<ExitCode, string>> = {
  [EXIT.done]: "done",
  [EXIT.failed]: "the network or the service failed, after retries",
  [EXIT.usage]: "usage: a wrong flag, value or input file; nothing was sent",
  [EXIT.partial]: "some rows failed or are unknown; see the results file",
  [EXIT.auth]: "no connection is configured, or the key was refused",
  [EXIT.refused]: "the service refused the request, or nothing was found",
  [EXIT.assertion]: "an --assert or a check failed",
  [EXIT.hungUp]: "stopped by SIGHUP",
  [EXIT.interrupted]: "stopped by SIGINT; finished work is recorded",
  [EXIT.terminated]: "stopped by SIGTERM; finished work is recorded",
};
