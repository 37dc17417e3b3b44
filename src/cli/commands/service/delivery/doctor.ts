import type { ProjectSender } from "../../../../service/delivery/doctor/examine-mail.ts";
import type { MailSender } from "../../../../service/delivery/message/sender.ts";
import type { DoctorFinding, FindingResult, MailSetup } from "../../../../service/delivery/doctor/finding.ts";
import type { ConfiguredSettings } from "../../../../service/domain/projects/settings.ts";
import type { ComposedTest } from "../../../../service/operations/define/operation.ts";
import { DEFAULT_ADDRESS } from "../../../../service/service-address.ts";
import { parseEmail } from "../../../args/people.ts";
import type { Deps } from "../../../kit/deps.ts";
import { countOf } from "../../../../contract/text/whole-number.ts";
import { writeDone } from "../../../kit/notes.ts";
import { DataFileError } from "../../../errors/command-errors.ts";
import { UsageError } from "../../../errors/usage-error.ts";
import { EXIT, type ExitCode } from "../../../exit-codes.ts";
import { type GivenSetup, readMailSetup, SETUP_FLAGS } from "../../serve/mail.ts";
import type { DataFileChoice } from "../../../kit/data/data-place.ts";
import { defineCommand } from "../../../kit/define-command.ts";
import type { FlagGroup } from "../../../kit/flag-spec.ts";
import { PLACE, placeFlags, showList, showRecord, withAdmin, withStore } from "../data/data-file.ts";
import { toResource } from "../../../render/columns.ts";

const FINDINGS = toResource("checks", { check: "text", result: "status", detail: "text", rule: "text" }, ["rule"]);
const TEST_MAIL = toResource("mails", {
  outcome: "status",
  to: "text",
  subject: "text",
  message_id: "text",
  stage: "text",
  code: "number",
  enhanced_code: "text",
  text: "text",
  host: "text",
  server_id: "text",
  ms: "number",
});

export async function runDeliveryDoctor(
  deps: Deps,
  { setup, offline, data }: DataFileChoice & { readonly setup: MailSetup; readonly offline: boolean },
): Promise<ExitCode> {
  const { clock, options, signal } = deps;
  if (options.dryRun) throw new UsageError("--dry-run: this command sends no requests that could be shown");
  const senders = (await readSenders(deps, data)).filter(({ from }) => from !== setup.from);
  const { examineMail, examineSenders } = await import("../../../../service/delivery/doctor/examine-mail.ts");
  const outside = offline ? null : { names: await deps.names(), signal };
  const findings = [
    ...(await examineMail(setup, clock, outside)),
    ...(await examineSenders(setup, senders, outside?.names ?? null)),
  ];
  await showList(deps, FINDINGS, findings, { wrap: true });
  const problems = countResult(findings, "problem");
  const warnings = countOf(countResult(findings, "warning"), "warning");
  await writeDone(deps, `${countOf(problems, "problem")}, ${warnings}.`);
  return problems > 0 ? EXIT.assertion : EXIT.done;
}

async function readSenders(deps: Deps, data: DataFileChoice["data"]): Promise<ProjectSender[]> {
  if (!hasPlace(deps, data)) return [];
  const byAddress = new Map<string, string[]>();
  await withStore(deps, { data }, async (admin) => {
    for (const { name } of await admin({ kind: "project.list" })) {
      const { from } = (await admin({ kind: "settings", project: name })) as ConfiguredSettings;
      if (from !== null) byAddress.set(from, [...(byAddress.get(from) ?? []), name]);
    }
  });
  return [...byAddress].map(([from, projects]) => ({ from, projects }));
}

function hasPlace({ env }: Deps, data: DataFileChoice["data"]): boolean {
  return data !== null || ["SURVEYCTL_DATA", "SURVEYCTL_DATABASE"].some((name) => (env[name] ?? "") !== "");
}

function countResult(findings: readonly DoctorFinding[], wanted: FindingResult): number {
  return findings.filter(({ result }) => result === wanted).length;
}

const LOOK_FIRST = "look in the mailbox before you send another one";

interface ProjectChoice extends DataFileChoice {
  readonly project: string | null;
}

export async function runDeliveryTest(
  deps: Deps,
  { setup, to, ...choice }: ProjectChoice & { readonly setup: GivenSetup; readonly to: string },
): Promise<ExitCode> {
  if (deps.options.dryRun) throw new UsageError("--dry-run: this command sends a mail");
  const { certificates, publicUrl } = setup;
  const { server, from, key } = requireSender(setup);
  const { explainFailure, sendComposed } = await import("../../../../service/delivery/smtp/send-once.ts");
  const { clock, signal } = deps;
  const sender = { ...setup, from, footer: null };
  const { subject, message_id: messageId, mail } = await composeTest(deps, choice, to, sender, publicUrl);
  const result = await sendComposed(mail, { server, certificates, dkim: key, clock, signal });
  const { enhancedCode, serverId, ...reply } = result.reply;
  await showRecord(deps, TEST_MAIL, {
    outcome: result.kind,
    to,
    subject,
    message_id: messageId,
    ...reply,
    enhanced_code: enhancedCode,
    server_id: serverId,
  });
  const failure = explainFailure(result);
  if (failure !== null)
    throw new DataFileError(failure.code, failure.message, failure.code === "mail_unknown" ? { hint: LOOK_FIRST } : {});
  await writeDone(deps, `Sent to ${to}. Look at its Authentication-Results header: spf, dkim and dmarc must pass.`);
  return EXIT.done;
}

async function composeTest(
  deps: Deps,
  { data, project }: ProjectChoice,
  to: string,
  sender: MailSender,
  publicUrl: string | null,
): Promise<ComposedTest> {
  const { profile, baseUrl } = deps.options;
  if (hasPlace(deps, data) || profile !== null || baseUrl !== null || (deps.env["SURVEYCTL_PROFILE"] ?? "") !== "")
    return withAdmin(deps, { data, sender }, project, (admin) => admin({ kind: "delivery.test", project, to }));
  if (project !== null) throw new UsageError("--project requires --data, --database or --database-file");
  const { composeTestMail } = await import("../../../../service/delivery/doctor/test-mail.ts");
  return composeTestMail(to, { appUrl: publicUrl ?? DEFAULT_ADDRESS, sender }, deps);
}

function requireSender({ server, from, dkim }: GivenSetup) {
  const hint = "use --smtp URL or SURVEYCTL_SMTP, with --smtp-from";
  if (server === null) throw new UsageError("a mail server is required", { hint });
  if (typeof server === "string") throw new UsageError(server);
  if (from === null) throw new UsageError("--smtp-from is required", { hint });
  if (typeof dkim === "string") throw new UsageError(dkim);
  return { server, from, key: dkim };
}

const SETUP: FlagGroup<ReturnType<typeof readMailSetup>> = {
  records: SETUP_FLAGS,
  read: (flags, deps) => readMailSetup(deps, flags),
};

export const doctor = defineCommand({
  name: "doctor",
  summary: "check mail settings, DNS and the mail server; sends nothing, and exits with 6 on a problem",
  examples: [
    "surveyctl service delivery doctor --smtp-file smtp.url --smtp-from survey@example.com --public-url https://survey.example.com",
    "surveyctl service delivery doctor --offline --smtp-from survey@example.com --json",
  ],
  exits: [EXIT.done, EXIT.assertion],
  flags: {
    setup: SETUP,
    place: placeFlags("data file, to check its projects' senders too"),
    offline: { text: "do not contact DNS or the mail server" },
  },
  columns: FINDINGS,
  run: (deps, { setup, place, offline }) => runDeliveryDoctor(deps, { ...place, setup, offline }),
});

export const test = defineCommand({
  name: "test",
  summary: "send one test mail and print the mail server's reply",
  examples: [
    "surveyctl service delivery test you@example.com --smtp-file smtp.url --smtp-from survey@example.com",
    "surveyctl service delivery test you@example.com --smtp-from survey@example.com --data survey.db --project acme",
  ],
  args: { to: { form: "<address>", text: "who gets it", parse: (text: string) => parseEmail(text, "<address>") } },
  operation: "delivery.test",
  flags: {
    setup: SETUP,
    place: PLACE,
    project: { value: "name", text: "project name", otherwise: "default" },
  },
  columns: TEST_MAIL,
  run: (deps, { setup, to, place, project }) => runDeliveryTest(deps, { ...place, setup, to, project }),
});
