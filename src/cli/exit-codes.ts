export const EXIT = {
  done: 0,
  failed: 1,
  usage: 2,
  partial: 3,
  auth: 4,
  refused: 5,
  assertion: 6,
  hungUp: 129,
  interrupted: 130,
  terminated: 143,
} as const;

export type ExitCode = (typeof EXIT)[keyof typeof EXIT];

export const API_EXITS: readonly ExitCode[] = [EXIT.done, EXIT.failed, EXIT.auth, EXIT.refused];

export const EXIT_MEANINGS: Readonly<Record<ExitCode, string>> = {
  [EXIT.done]: "done",
  [EXIT.failed]: "the network or the service failed, after retries",
  [EXIT.usage]: "usage: an invalid flag, value or input file; nothing was sent",
  [EXIT.partial]: "some rows failed or are unknown; see the results file",
  [EXIT.auth]: "no connection is configured, or the key was refused",
  [EXIT.refused]: "the service refused the request, or nothing was found",
  [EXIT.assertion]: "an --assert or a check failed",
  [EXIT.hungUp]: "stopped by SIGHUP",
  [EXIT.interrupted]: "stopped by SIGINT; finished work is recorded",
  [EXIT.terminated]: "stopped by SIGTERM; finished work is recorded",
};
