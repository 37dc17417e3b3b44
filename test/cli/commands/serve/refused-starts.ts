import path from "node:path";
import { runInProcess } from "../../../helpers/in-process.ts";

export async function startRefused(folder: string, args: readonly string[], sentence: string): Promise<unknown[]> {
  const data = path.join(folder, "never.db");
  const { status, stderr } = await runInProcess({ args: ["serve", "--data", data, "--port", "0", ...args] });
  return [status, stderr.includes(sentence) ? sentence : stderr, stderr.includes("hunter2")];
}
