import type { ResultOf } from "../../../service/operations/index.ts";
import type { Deps } from "../../kit/deps.ts";
import type { ValuesOf } from "../../kit/flag-spec.ts";
import { writeDone } from "../../kit/notes.ts";
import { writeText } from "../../render/safe-text.ts";

export const PREVIEW_FLAGS = {
  html: { text: "print only the HTML", conflicts: ["--text"] },
  text: { text: "print only the text" },
  out: { value: "file", text: "write to a file, atomically" },
} as const;

export async function showPreview(
  deps: Deps,
  preview: ResultOf<"survey.preview">,
  { html, text, out }: ValuesOf<typeof PREVIEW_FLAGS>,
): Promise<void> {
  const shown = preview[html ? "html" : text ? "text" : "message"];
  if (out === null) return writeText(deps.streams.out, shown);
  const { replaceFile } = await import("../../../runtime/files/file-replacement.ts");
  await replaceFile(out, shown, deps.random.token(6));
  await writeDone(deps, `Wrote ${out}.`);
}
