/** What the program needs of Node's `process`; only the door, `main`, is handed the real one. */
export type Process = Pick<
  NodeJS.Process,
  "argv" | "env" | "exitCode" | "stdin" | "stdout" | "stderr" | "on" | "off" | "pid" | "platform" | "cwd" | "kill"
>;
