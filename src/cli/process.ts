/** The part of Node's `process` that the program needs; only `main` is given the real one. */
export type Process = Pick<
  NodeJS.Process,
  "argv" | "env" | "exitCode" | "stdin" | "stdout" | "stderr" | "on" | "off" | "pid" | "platform" | "cwd" | "kill"
>;
