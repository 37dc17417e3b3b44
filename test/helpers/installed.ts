import { spawnSync } from "node:child_process";

/** Whether the machine has a program of this name. */
export function isInstalled(program: string): boolean {
  return spawnSync("sh", ["-c", `command -v ${program}`]).status === 0;
}
