import type { Command } from "commander";
import { parseEmail } from "../../../args/people.ts";
import type { Flags } from "../../../args/flags.ts";
import type { CommandContext } from "../../../command/command-context.ts";
import type { Deps } from "../../../command/deps.ts";
import { writeDone } from "../../../command/notes.ts";
import { UsageError } from "../../../errors/usage-error.ts";
import { EXIT } from "../../../exit-codes.ts";
import { ONE_MAIL_FLAGS, readMailSettings } from "../../serve/mail.ts";
import { type AdminChoice, PROJECT_FLAGS, readProject, showRecord, withAdmin } from "../data/data-file.ts";
import { toResource } from "../service-resources.ts";
import { checkColumns } from "../../../render/record-output.ts";

const TESTED = toResource("digests", { to: "text", subject: "text", status: "number", text: "text" });

export function registerDigestTest(noun: Command, context: CommandContext): void {
  const verb = context.verb(noun, {
    name: "test",
    summary: "send the digest of the last seven days to one reader now; no schedule changes",
    operands: [["<email|url|id>", "an address, a Slack URL, or a number from `service digest list`"]],
    examples: [
      "surveyctl service digest test boss@example.com --smtp-file smtp.url --smtp-from survey@example.com",
      "surveyctl service digest test https://hooks.slack.com/x --data survey.db",
      "surveyctl service digest test 12 --project acme --json",
    ],
    exits: [EXIT.done, EXIT.failed, EXIT.refused],
    flags: [...PROJECT_FLAGS, ...ONE_MAIL_FLAGS],
    columns: TESTED,
  });
  context.action(verb, async (deps, flags, [digest = ""]) => {
    checkColumns(deps, TESTED);
    const { project, ...choice } = readProject(flags);
    const way = { ...choice, ...(await readWay(deps, flags, digest)) };
    const sent = await withAdmin(deps, way, (admin) => admin({ kind: "digest.test", project, digest }));
    await showRecord(deps, TESTED, sent);
    await writeDone(deps, `Sent "${sent.subject}" to ${sent.to}.`);
    return EXIT.done;
  });
}

/** The way to a reader; only the data file knows the one of an id. Throws UsageError. */
async function readWay(deps: Deps, flags: Flags, digest: string): Promise<Omit<AdminChoice, "data">> {
  if (isUrl(digest)) return {};
  const { mail, sender } = await readMailSettings(deps, flags);
  if (/^\d+$/.test(digest)) return { commandMail: mail, sender };
  parseEmail(digest, "<email|url|id>");
  if (mail !== null) return { commandMail: mail, sender };
  throw new UsageError("a mail server is required", {
    hint: "use --smtp URL or SURVEYCTL_SMTP, with --smtp-from; to see the mail: surveyctl service digest preview",
  });
}

export function isUrl(text: string): boolean {
  return /^https?:\/\//i.test(text);
}
