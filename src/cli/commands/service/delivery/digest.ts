import { WEEKDAYS } from "../../../../service/domain/windows/windows.ts";
import type { ComposedMail } from "../../../../service/operations/define/operation.ts";
import { OUTPUTS } from "../../../../service/operations/define/outputs.ts";
import { parseEmail } from "../../../args/people.ts";
import { parseChoice } from "../../../args/values.ts";
import type { Deps } from "../../../kit/deps.ts";
import { writeDone } from "../../../kit/notes.ts";
import { UsageError } from "../../../errors/usage-error.ts";
import { defineGroup } from "../../../kit/command-node.ts";
import { defineCommand } from "../../../kit/define-command.ts";
import type { FlagGroup } from "../../../kit/flag-spec.ts";
import { ONE_MAIL_FLAGS, readMailSettings } from "../../serve/mail.ts";
import { PLACE, PROJECT, showRecord, withAdmin } from "../data/data-file.ts";
import { PREVIEW_FLAGS, showPreview } from "../preview.ts";
import { serviceCommand } from "../service-command.ts";
import { toResource } from "../../../render/columns.ts";
import { ALLOW_PRIVATE, urlRefusal } from "../webhook.ts";

const TESTED = toResource("digests", OUTPUTS["digest.test"]);

const MAIL: FlagGroup<ReturnType<typeof readMailSettings>> = {
  records: ONE_MAIL_FLAGS,
  read: (flags, deps) => readMailSettings(deps, flags),
};

const test = defineCommand({
  name: "test",
  summary: "send the digest of the last seven days to one reader now, without changing any schedule",
  examples: [
    "surveyctl service digest test boss@example.com --smtp-file smtp.url --smtp-from survey@example.com",
    "surveyctl service digest test https://hooks.slack.com/x --data survey.db",
    "surveyctl service digest test 12 --project acme --json",
  ],
  args: {
    id: {
      form: "<email|url|id>",
      text: "an address, a Slack URL, or a number from `service digest list`",
    },
  },
  operation: "digest.test",
  flags: { place: PLACE, project: PROJECT, mail: MAIL },
  columns: TESTED,
  run: async (deps, { id, place, project, mail: { mail, sender } }) => {
    // A number can be the id of an email or a webhook recipient; only the stored data shows which.
    const isMail = !isUrl(id) && !/^\d+$/.test(id);
    if (isMail) parseEmail(id, "<email|url|id>");
    if (isMail && mail === null)
      throw new UsageError("a mail server is required", {
        hint: "use --smtp URL or SURVEYCTL_SMTP, with --smtp-from; to see the mail: surveyctl service digest preview",
      });
    const sent = await withAdmin(deps, { ...place, sender }, project, async (admin) => {
      const { mail: composed, ...posted } = await admin({ kind: "digest.test", project, id });
      return composed === null ? posted : { ...posted, ...(await mailDigest(deps, composed, mail)) };
    });
    await showRecord(deps, TESTED, sent);
    await writeDone(deps, `Sent "${sent.subject}" to ${sent.to}.`);
  },
});

async function mailDigest(
  deps: Deps,
  composed: ComposedMail,
  way: Awaited<ReturnType<typeof readMailSettings>>["mail"],
) {
  const { NotTakenError } = await import("../../../../service/domain/errors.ts");
  if (way === null) throw new NotTakenError(`${composed.to} gets it by mail, which needs a mail server`);
  const { explainFailure, sendComposed } = await import("../../../../service/delivery/smtp/send-once.ts");
  const result = await sendComposed(composed, { ...way, clock: deps.clock, signal: deps.signal });
  const failure = explainFailure(result);
  if (failure !== null) throw new NotTakenError(failure.message);
  const { code, text } = result.reply;
  return { status: code, text };
}

export const digest = defineGroup({
  name: "digest",
  summary: "weekly score and comments, by mail or to Slack",
  commands: [
    serviceCommand({
      operation: "digest.add",
      summary: "send a project's digest to an address or to Slack every week",
      examples: [
        "surveyctl service digest add boss@example.com --every monday --data survey.db",
        "surveyctl service digest add team@example.com --every friday --at 16:30 --tz Europe/Berlin",
        "surveyctl service digest add https://hooks.slack.com/x --every friday",
      ],
      args: {
        target: {
          form: "<email|url>",
          text: "an address or a Slack webhook URL; an existing one gets the new schedule",
        },
      },
      flags: {
        every: {
          value: "day",
          text: "day of the week",
          choices: [...WEEKDAYS.slice(1), "sunday"],
          required: true,
          parse: (text: string, place: string) => parseChoice(text.toLowerCase(), place, WEEKDAYS),
        },
        at: { value: "time", text: "time of day, in --tz or else the project's time zone", default: "08:00" },
        allow_private: ALLOW_PRIVATE,
      },
      noun: "digests",
      input: async ({ target, ...given }, deps) => {
        if (!isUrl(target)) parseEmail(target, "<email|url>");
        const refusal = isUrl(target)
          ? await urlRefusal({ url: target, allowPrivate: given.allow_private }, "<email|url>")
          : null;
        if (refusal !== null) throw refusal;
        return { ...given, target, tz: deps.options.timeZone };
      },
    }),
    serviceCommand({
      operation: "digest.preview",
      summary: "print the digest of the last seven days as it would be mailed; nothing is sent",
      examples: [
        "surveyctl service digest preview --text --data survey.db",
        "surveyctl service digest preview --html --out digest.html --project acme",
      ],
      flags: PREVIEW_FLAGS,
      input: () => ({}),
      show: showPreview,
    }),
    test,
    serviceCommand({
      operation: "digest.list",
      summary: "list who gets the digest, when, and the outcome of the last one",
      examples: ["surveyctl service digest list --data survey.db", "surveyctl service digest list --json"],
      noun: "digests",
      dropFirst: ["created_at", "id", "reason"],
    }),
    serviceCommand({
      operation: "digest.remove",
      summary: "stop sending digests to a reader",
      examples: [
        "surveyctl service digest remove boss@example.com --data survey.db",
        "surveyctl service digest rm 12 --project acme",
      ],
      args: { id: { form: "<email|url|id>", text: "the reader" } },
      noun: "digests",
      done: ({ target }) => `${target} gets no more digests.`,
    }),
  ],
});

function isUrl(text: string): boolean {
  return /^https?:\/\//i.test(text);
}
