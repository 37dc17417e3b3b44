import { execFile } from "node:child_process";
import { ConfigError } from "./config-error.ts";

const TIMEOUT_MS = 60_000;

/**
 * Runs a profile's command in the shell and gives what it prints, without the line's end. Throws ConfigError; when `signal`
 * is aborted the command is ended and its reason thrown.
 */
export function runKeyCommand(command: string, platform: string, signal?: AbortSignal): Promise<string> {
  const [shell, ...args] = platform === "win32" ? ["cmd", "/c", command] : ["/bin/sh", "-c", command];
  return new Promise((resolve, reject) => {
    const options = { timeout: TIMEOUT_MS, encoding: "utf8", signal } as const;
    const child = execFile(shell ?? "", args, options, (error, stdout, stderr) => {
      const key = stdout.trim();
      if (signal?.aborted === true) reject(signal.reason as Error);
      else if (error === null && key !== "" && !key.includes("\n")) resolve(key);
      else {
        reject(
          new ConfigError("missing", `the key command failed: ${problem(error, key, stderr)}`, {
            hint: "run it by itself to see what it prints; surveyctl auth login --key-command saves another",
          }),
        );
      }
    });
    // A command that asks gets no answer here: better an error at once than a minute's wait.
    child.stdin?.end();
  });
}

function problem(error: (Error & { code?: string | number | null }) | null, key: string, stderr: string): string {
  if (error === null) return key === "" ? "it printed nothing" : "it printed more than one line";
  const words = stderr.trim().split("\n").at(-1) ?? "";
  return words === "" ? `it ended with ${error.code ?? "a signal"}` : words;
}
