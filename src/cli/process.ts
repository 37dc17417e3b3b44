/** What the program uses of Node's `process`. Only `main` gets the real one. */
export type Process = Pick<
  NodeJS.Process,
  "argv" | "env" | "exitCode" | "stdin" | "stdout" | "stderr" | "on" | "off" | "pid" | "platform" | "cwd" | "kill"
>;
