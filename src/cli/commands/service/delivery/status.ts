import { DELIVERY_STATES } from "../../../../service/domain/delivery/queue-rows.ts";
import { EXIT } from "../../../exit-codes.ts";
import { type Column, type Resource, toResource } from "../../../render/columns.ts";
import { showWithLists } from "../data/record-lists.ts";
import { serviceCommand } from "../service-command.ts";

export const DELIVERY_STATUS = toResource("settings", {
  ...Object.fromEntries(DELIVERY_STATES.map((state) => [state, "number"] as const)),
  oldest_due_at: "time",
  paused_at: "time",
  paused_projects: "text",
  projects: "text",
  senders: "text",
});
export const BUDGETS = toResource(
  "projects",
  { project: "text", daily_limit: "number", sent_today: "number", waiting: "number", waiting_until: "time" },
  ["daily_limit"],
);
const LAST_WORDS = "last_words";
/** The server's last reply with stage and codes: `auth 535 5.7.8 Authentication failed`. */
const lastWords: Column = {
  name: LAST_WORDS,
  kind: "text",
  read: ({ stage, code, enhanced_code: enhancedCode, reason }) =>
    [stage, code, enhancedCode, reason]
      .filter((part) => typeof part === "string" || typeof part === "number")
      .join(" "),
};
const SENDER = toResource(
  "senders",
  { name: "text", process: "text", state: "status", since: "time", next_probe_at: "time" },
  ["since", "next_probe_at", "process"],
);
export const SENDERS: Resource = {
  ...SENDER,
  columns: [...SENDER.columns, lastWords],
  flexible: LAST_WORDS,
};

export const status = serviceCommand({
  operation: "delivery.status",
  scope: "server",
  summary: "count surveys by state, and show what is paused or held",
  examples: ["surveyctl service delivery status --data survey.db", "surveyctl service delivery status --json"],
  exits: [EXIT.done, EXIT.failed],
  columns: DELIVERY_STATUS,
  show: (deps, result) =>
    showWithLists(deps, DELIVERY_STATUS, result, [
      { name: "projects", resource: BUDGETS, rows: result.projects },
      { name: "senders", resource: SENDERS, rows: result.senders },
    ]),
});
