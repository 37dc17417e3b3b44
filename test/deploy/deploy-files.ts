import { spawnSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import path from "node:path";

export const ROOT = path.join(import.meta.dirname, "../..");
export const DEPLOY = path.join(ROOT, "docs/deploy");

export function deployed(name: string): string {
  return readFileSync(path.join(DEPLOY, name), "utf8");
}

export function namesOf(ending: string): string[] {
  return readdirSync(DEPLOY).filter((name) => name.endsWith(ending));
}

export function findProgram(name: string): string | null {
  const folders = [...(process.env.PATH ?? "").split(":"), "/usr/sbin", "/sbin"];
  return folders.map((folder) => path.join(folder, name)).find((file) => existsSync(file)) ?? null;
}

export function runTool(
  program: string,
  args: readonly string[],
  cwd?: string,
): { status: number | null; stdout: string; said: string } {
  const { status, stdout, stderr } = spawnSync(program, args, { encoding: "utf8", ...(cwd !== undefined && { cwd }) });
  return { status, stdout, said: stdout + stderr };
}

export function settingsOf(unit: string, name: string): string[] {
  return unit.split("\n").flatMap((line) => (line.startsWith(`${name}=`) ? [line.slice(name.length + 1)] : []));
}
