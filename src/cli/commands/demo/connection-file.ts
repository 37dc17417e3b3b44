/** The shell file that makes a finished demo usable: its connection, and the program under its own name. */
import { existsSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";

export interface DemoConnection {
  readonly baseUrl: string;
  readonly apiKey: string;
  readonly dataFile: string;
}

/** Text to be read with `.`; somebody who did not install the program gets it as a function. */
export function formatConnectionFile({ baseUrl, apiKey, dataFile }: DemoConnection, program: string | null): string {
  const variables = { SURVEYCTL_BASE_URL: baseUrl, SURVEYCTL_API_KEY: apiKey, SURVEYCTL_DATA: dataFile };
  const exports = Object.entries(variables).map(([name, value]) => `export ${name}=${quote(value)}`);
  const fallback = `command -v surveyctl >/dev/null || surveyctl() { node ${quote(program ?? "")} "$@"; }`;
  return [...exports, ...(program === null ? [] : [fallback]), ""].join("\n");
}

/** The program that this module belongs to; null when it was moved away from it. */
export function findProgram(from: string = import.meta.url): string | null {
  for (let folder = path.dirname(fileURLToPath(from)); folder !== path.dirname(folder); folder = path.dirname(folder)) {
    const program = path.join(folder, "bin/surveyctl.js");
    if (existsSync(program)) return program;
  }
  return null;
}

function quote(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}
