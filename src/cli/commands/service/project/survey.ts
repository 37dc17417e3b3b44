import type { Command } from "commander";
import { type Locale, LOCALES } from "../../../../contract/locales.ts";
import { replaceFile } from "../../../../runtime/files/file-replacement.ts";
import type { PreviewInfo } from "../../../../service/admin/digest/commands.ts";
import { parseEmail } from "../../../args/people.ts";
import { parseChoice } from "../../../args/values.ts";
import type { CommandContext } from "../../../command/command-context.ts";
import type { Deps } from "../../../command/deps.ts";
import { writeDone } from "../../../command/notes.ts";
import { UsageError } from "../../../errors/usage-error.ts";
import { EXIT, type ExitCode } from "../../../exit-codes.ts";
import { writeText } from "../../../render/safe-text.ts";
import { PROJECT_FLAGS, type ProjectChoice, readProject, showRecord, withAdmin } from "../data/data-file.ts";
import { projectVerb } from "../project-verb.ts";
import { PREVIEW, SIGNED_LINK } from "../service-resources.ts";

interface SurveyPreviewOptions extends ProjectChoice {
  /** The person whose survey it is; null for a sample's. */
  readonly email: string | null;
  readonly locale: Locale | null;
  /** Null for the whole message. */
  readonly part: "text" | "html" | null;
  /** Null for stdout. */
  readonly out: string | null;
}

async function runSurveyPreview(deps: Deps, options: SurveyPreviewOptions): Promise<ExitCode> {
  const { project, email, locale, part, out, ...choice } = options;
  const preview = await withAdmin(deps, choice, (admin) => admin({ kind: "survey.preview", project, email, locale }));
  const text = preview[part ?? "message"];
  if (out !== null) await writePreview(deps, out, text);
  else if (part === null && deps.options.output !== null) await showRecord(deps, PREVIEW, withoutMessage(preview));
  else await writeText(deps.streams.out, text);
  return EXIT.done;
}

function withoutMessage({ from, to, subject, text, html }: PreviewInfo): Omit<PreviewInfo, "message"> {
  return { from, to, subject, text, html };
}

async function writePreview(deps: Deps, file: string, text: string): Promise<void> {
  await replaceFile(file, text, deps.random.token(6));
  await writeDone(deps, `Wrote ${file}.`);
}

export function registerSurvey(parent: Command, context: CommandContext): void {
  const noun = parent.command("survey").description("surveys as people receive them");
  registerPreview(noun, context);
  projectVerb(context, noun, {
    kind: "survey.link",
    name: "link",
    summary: "print a link to a response that needs no key, good for 30 days",
    operands: [["<id>", "the response's number"]],
    examples: [
      "surveyctl service survey link 42 --data survey.db",
      "surveyctl service survey link 42 --columns url -o csv --project acme",
    ],
    columns: SIGNED_LINK,
    details: ({ operands: [id = ""] }) => ({ id }),
  });
}

function registerPreview(noun: Command, context: CommandContext): void {
  const verb = context.verb(noun, {
    name: "preview",
    summary: "print the survey's e-mail as it would be sent; nothing is sent",
    operands: [["[email]", "whose survey; omit for a sample"]],
    examples: [
      "surveyctl service survey preview --locale de --text --data survey.db",
      "surveyctl service survey preview ada@example.com --html --out survey.html",
      "surveyctl service survey preview --locale ja --out survey.eml --project acme",
    ],
    exits: [EXIT.done, EXIT.failed, EXIT.refused],
    flags: [
      ...PROJECT_FLAGS,
      { flag: "--locale", value: "locale", text: "survey language", choices: LOCALES, otherwise: "the survey's own" },
      { flag: "--html", text: "print only the HTML" },
      { flag: "--text", text: "print only the text" },
      { flag: "--out", value: "file", text: "write to a file, atomically" },
    ],
    columns: PREVIEW,
  });
  context.action(verb, (deps, flags, [email]) => {
    if (flags.is("--html") && flags.is("--text")) throw new UsageError("--html and --text cannot be used together");
    return runSurveyPreview(deps, {
      ...readProject(flags),
      email: email === undefined ? null : parseEmail(email, "email"),
      locale: flags.parse("--locale", (text, flag) => parseChoice(text, flag, LOCALES)),
      part: flags.is("--html") ? "html" : flags.is("--text") ? "text" : null,
      out: flags.text("--out"),
    });
  });
}
