import type { ChildProcess } from "node:child_process";
import { endChildren } from "../runtime/files/processes.ts";
import { onAbort } from "../runtime/on-abort.ts";
import { ConfigError } from "./config-error.ts";

const TIMEOUT_MS = 60_000;

/**
 * Runs a profile's command in the shell and returns its output without the final line break. Throws ConfigError. On an
 * abort, kills the command and throws the signal's reason.
 */
export async function runKeyCommand(command: string, platform: string, signal?: AbortSignal): Promise<string> {
  signal?.throwIfAborted();
  const expiry = AbortSignal.timeout(TIMEOUT_MS);
  const { error, stdout, stderr } = await runInShell(
    command,
    platform,
    signal === undefined ? expiry : AbortSignal.any([signal, expiry]),
  );
  signal?.throwIfAborted();
  const key = stdout.trim();
  if (error === null && key !== "" && !key.includes("\n")) return key;
  const why = expiry.aborted ? `it took longer than ${TIMEOUT_MS / 1000} s` : problem(error, key, stderr);
  throw new ConfigError("missing", `the key command failed: ${why}`, { code: "replace_key_command" });
}

interface Ended {
  readonly error: (Error & { code?: string | number | null }) | null;
  readonly stdout: string;
  readonly stderr: string;
}

async function runInShell(command: string, platform: string, signal: AbortSignal): Promise<Ended> {
  const { execFile } = await import("node:child_process");
  signal.throwIfAborted();
  const [shell, ...args] = platform === "win32" ? ["cmd", "/c", command] : ["/bin/sh", "-c", command];
  return await new Promise((resolve) => {
    const child = execFile(shell ?? "", args, { encoding: "utf8" }, (error, stdout, stderr) => {
      release();
      resolve({ error, stdout, stderr });
    });
    const release = onAbort(signal, () => void endWithChildren(child));
    // Makes a command that prompts for input fail immediately.
    child.stdin?.end();
  });
}

/** Killing only the shell would leave its children running. */
async function endWithChildren(child: ChildProcess): Promise<void> {
  if (child.pid !== undefined) await endChildren(child.pid);
  child.stdout?.destroy();
  child.stderr?.destroy();
  child.kill();
}

function problem(error: Ended["error"], key: string, stderr: string): string {
  if (error === null) return key === "" ? "it printed nothing" : "it printed more than one line";
  const lastLine = stderr.trim().split("\n").at(-1) ?? "";
  // Output from before the failure may include the key.
  const words = key === "" ? lastLine : lastLine.replaceAll(key, "…");
  return words === "" ? `it ended with ${error.code ?? "a signal"}` : words;
}
