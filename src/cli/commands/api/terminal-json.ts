import { indentJson } from "../../render/json-indent.ts";
import { toSafeLines } from "../../render/safe-text.ts";

/** JSON for a terminal, indented and coloured; `depth` levels in. */
export async function toTerminalJson(text: string, color: boolean, depth = 0): Promise<string> {
  const { paintJson } = await import("../../render/human.ts");
  return paintJson(toSafeLines(indentJson(text, depth)), color);
}
