/** The parts of Node's `process` that the program uses. Only `main` gets the real one. */
export type Process = Pick<
  NodeJS.Process,
  "argv" | "env" | "exitCode" | "stdin" | "stdout" | "stderr" | "on" | "off" | "pid" | "platform" | "cwd" | "kill"
>;
