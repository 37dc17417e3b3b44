import type { Command } from "commander";
import type { HistoryInfo } from "../../../../service/admin/delivery/commands.ts";
import { parseChoice } from "../../../args/values.ts";
import type { CommandContext } from "../../../command/command-context.ts";
import type { Deps } from "../../../command/deps.ts";
import { countOf } from "../../../command/notes.ts";
import { EXIT, type ExitCode } from "../../../exit-codes.ts";
import { PROJECT_FLAGS, type ProjectChoice, readProject, withAdmin } from "../data/data-file.ts";
import { showWithLists } from "../data/record-lists.ts";
import {
  BUDGETS,
  DELIVERIES,
  DELIVERY_HISTORY,
  DELIVERY_LOG,
  DELIVERY_STATUS,
  NOT_SCHEDULED,
  RELEASED,
  SENDERS,
} from "../service-resources.ts";
import { projectVerb, serviceVerb } from "../project-verb.ts";
import { registerDoctor } from "./doctor.ts";
import { registerDeliveryList } from "./list.ts";

async function runDeliveryShow(
  deps: Deps,
  { project, email, ...choice }: ProjectChoice & { readonly email: string },
): Promise<ExitCode> {
  const history = await withAdmin(deps, choice, (admin) => admin({ kind: "delivery.show", project, email }));
  await showWithLists(deps, DELIVERY_HISTORY, history, [
    { name: "surveys", resource: DELIVERY_LOG, rows: history.surveys.flatMap(toLogRows) },
    { name: "not_scheduled", resource: NOT_SCHEDULED, rows: history.not_scheduled },
  ]);
  return EXIT.done;
}

/** The survey itself first: one that was never tried has no other row. */
function toLogRows({
  id,
  channel,
  state,
  reason,
  due_at,
  sent_at,
  page,
  log,
}: HistoryInfo["surveys"][number]): object[] {
  return [
    {
      survey: id,
      channel,
      state,
      at: sent_at ?? due_at,
      page: page === null ? null : describePage(page),
      text: reason,
    },
    ...log.map(({ n, ...attempt }) => ({ survey: id, channel, attempt: n, ...attempt })),
  ];
}

/** Programs that follow links open many, with many scores, at once; a person answers. */
function describePage(page: NonNullable<HistoryInfo["surveys"][number]["page"]>): string {
  const { gets, scores, head_seen, answered_by, answered_after } = page;
  const after = answered_after === null ? "" : ` after ${answered_after} s`;
  return [
    `opened ${countOf(gets, "time", "times")}`,
    ...(scores.length === 0 ? [] : [`scores ${scores.join(" ")}`]),
    ...(head_seen ? ["HEAD seen"] : []),
    ...(answered_by === null ? [] : [`answered by ${answered_by}${after}`]),
  ].join(", ");
}

const RESOLUTIONS = ["sent", "resend"] as const;

export function registerDelivery(parent: Command, context: CommandContext): void {
  const noun = parent.command("delivery").description("what became of each survey, and what holds surveys up");
  registerDeliveryList(noun, context);
  const show = context.verb(noun, {
    name: "show",
    summary: "explain why a person did or did not get surveys",
    operands: [["<email>", "the person's e-mail address or phone number"]],
    examples: [
      "surveyctl service delivery show ada@example.com --data survey.db",
      "surveyctl service delivery show +14155550000 --json",
    ],
    exits: [EXIT.done, EXIT.failed, EXIT.refused],
    flags: PROJECT_FLAGS,
    columns: DELIVERY_HISTORY,
  });
  context.action(show, (deps, flags, [email = ""]) => runDeliveryShow(deps, { ...readProject(flags), email }));
  serviceVerb(context, noun, {
    kind: "delivery.status",
    name: "status",
    summary: "count surveys by state, and show what is paused or held",
    examples: ["surveyctl service delivery status --data survey.db", "surveyctl service delivery status --json"],
    exits: [EXIT.done, EXIT.failed],
    columns: DELIVERY_STATUS,
    lists: ({ projects, senders }) => [
      { name: "projects", resource: BUDGETS, rows: projects },
      { name: "senders", resource: SENDERS, rows: senders },
    ],
  });
  registerResolve(noun, context);
  serviceVerb(context, noun, {
    kind: "delivery.resume",
    name: "resume",
    summary: "send what is held, and let senders try again now",
    examples: ["surveyctl service delivery resume --data survey.db", "surveyctl service delivery resume --json"],
    exits: [EXIT.done, EXIT.failed],
    columns: RELEASED,
    done: ({ released }) => `Released ${countOf(released, "held survey", "held surveys")}.`,
  });
  registerDoctor(noun, context);
}

function registerResolve(noun: Command, context: CommandContext): void {
  projectVerb(context, noun, {
    kind: "delivery.resolve",
    name: "resolve",
    summary: "record what became of an unknown survey",
    operands: [
      ["<id>", "the survey's number, from `service delivery list --state unknown`"],
      ["<outcome>", "sent, if it has arrived; resend, to send it once more"],
    ],
    examples: [
      "surveyctl service delivery resolve 42 sent --data survey.db",
      "surveyctl service delivery resolve 42 resend --project acme",
    ],
    columns: DELIVERIES,
    details: ({ operands: [id = "", outcome = ""] }) => ({ id, as: parseChoice(outcome, "<outcome>", RESOLUTIONS) }),
  });
}
