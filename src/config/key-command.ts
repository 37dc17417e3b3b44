import { ConfigError } from "./config-error.ts";

const TIMEOUT_MS = 60_000;

/** Runs a profile's command in the shell and gives what it prints, without the line's end. Throws ConfigError. */
export async function runKeyCommand(command: string, platform: string): Promise<string> {
  const { execFile } = await import("node:child_process");
  const [shell, ...args] = platform === "win32" ? ["cmd", "/c", command] : ["/bin/sh", "-c", command];
  return await new Promise((resolve, reject) => {
    execFile(shell ?? "", args, { timeout: TIMEOUT_MS, encoding: "utf8" }, (error, stdout, stderr) => {
      const key = stdout.trim();
      if (error === null && key !== "" && !key.includes("\n")) resolve(key);
      else
        reject(
          new ConfigError("missing", `the key command failed: ${problem(error, key, stderr)}`, {
            hint: "run it by itself to see what it prints; surveyctl auth login --key-command saves another",
          }),
        );
    });
  });
}

function problem(error: (Error & { code?: string | number | null }) | null, key: string, stderr: string): string {
  if (error === null) return key === "" ? "it printed nothing" : "it printed more than one line";
  const words = stderr.trim().split("\n").at(-1) ?? "";
  return words === "" ? `it ended with ${error.code ?? "a signal"}` : words;
}
