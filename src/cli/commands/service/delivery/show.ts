import type { ResultOf } from "../../../../service/operations/index.ts";
import { countOf } from "../../../../contract/text/whole-number.ts";
import { showWithLists } from "../data/record-lists.ts";
import { OUTPUTS } from "../../../../service/operations/define/outputs.ts";
import { serviceCommand } from "../service-command.ts";
import { toResource } from "../../../render/columns.ts";

const DELIVERY_HISTORY = toResource("people", OUTPUTS["delivery.show"]);
const NOT_SCHEDULED = toResource(
  "surveys",
  { at: "time", channel: "text", reason: "text", since: "time", until: "time" },
  ["channel"],
);
const DELIVERY_LOG = toResource(
  "attempts",
  {
    survey: "id",
    channel: "text",
    state: "status",
    page: "text",
    attempt: "number",
    at: "time",
    message: "text",
    outcome: "text",
    stage: "text",
    code: "number",
    enhanced_code: "text",
    text: "text",
    remote_host: "text",
    server_id: "text",
  },
  ["server_id", "channel", "remote_host", "stage"],
);

type Survey = ResultOf<"delivery.show">["surveys"][number];

export const show = serviceCommand({
  operation: "delivery.show",
  summary: "explain why a person did or did not get surveys",
  examples: [
    "surveyctl service delivery show ada@example.com --data survey.db",
    "surveyctl service delivery show +14155550000 --json",
  ],
  args: { email: { form: "<email>", text: "the person's e-mail address or phone number" } },
  columns: DELIVERY_HISTORY,
  show: (deps, history) =>
    showWithLists(deps, DELIVERY_HISTORY, history, [
      { name: "surveys", resource: DELIVERY_LOG, rows: history.surveys.flatMap(toLogRows) },
      { name: "not_scheduled", resource: NOT_SCHEDULED, rows: history.not_scheduled },
    ]),
});

function toLogRows({ id, channel, state, log, ...survey }: Survey): object[] {
  const { page, sent_at, due_at, reason } = survey;
  const shownPage = page === null ? null : describePage(page);
  return [
    { survey: id, channel, state, at: sent_at ?? due_at, page: shownPage, text: reason },
    ...log.map(({ n, ...attempt }) => ({ survey: id, channel, attempt: n, ...attempt })),
  ];
}

/** If pages of many scores were opened without an answer, a link scanner is likely. */
function describePage(page: NonNullable<Survey["page"]>): string {
  const { gets, scores, head_seen, answered_by, answered_after } = page;
  const after = answered_after === null ? "" : ` after ${answered_after} s`;
  return [
    `opened ${countOf(gets, "time")}`,
    ...(scores.length === 0 ? [] : [`scores ${scores.join(" ")}`]),
    ...(head_seen ? ["HEAD seen"] : []),
    ...(answered_by === null ? [] : [`answered by ${answered_by}${after}`]),
  ].join(", ");
}
