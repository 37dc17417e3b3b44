import type { Command } from "commander";
import { replaceFile } from "../../../../runtime/files/file-replacement.ts";
import type { CommandContext } from "../../../command/command-context.ts";
import { writeDone } from "../../../command/notes.ts";
import { UsageError } from "../../../errors/usage-error.ts";
import { EXIT } from "../../../exit-codes.ts";
import { writeText } from "../../../render/safe-text.ts";
import { PROJECT_FLAGS, readProject, withAdmin } from "../data/data-file.ts";

export function registerDigestPreview(noun: Command, context: CommandContext): void {
  const verb = context.verb(noun, {
    name: "preview",
    summary: "print the digest of the last seven days as it would be mailed; nothing is sent",
    examples: [
      "surveyctl service digest preview --text --data survey.db",
      "surveyctl service digest preview --html --out digest.html --project acme",
    ],
    exits: [EXIT.done, EXIT.failed, EXIT.refused],
    flags: [
      ...PROJECT_FLAGS,
      { flag: "--html", text: "print only the HTML" },
      { flag: "--text", text: "print only the text" },
      { flag: "--out", value: "file", text: "write to a file, atomically" },
    ],
  });
  context.action(verb, async (deps, flags) => {
    if (flags.is("--html") && flags.is("--text")) throw new UsageError("--html and --text cannot be used together");
    const part = flags.is("--html") ? "html" : flags.is("--text") ? "text" : "message";
    const { project, ...choice } = readProject(flags);
    const { [part]: text } = await withAdmin(deps, choice, (admin) => admin({ kind: "digest.preview", project }));
    const out = flags.text("--out");
    if (out === null) {
      await writeText(deps.streams.out, text);
      return EXIT.done;
    }
    await replaceFile(out, text, deps.random.token(6));
    await writeDone(deps, `Wrote ${out}.`);
    return EXIT.done;
  });
}
