import { LISTED_REASONS, LISTED_STATES } from "../../../../service/domain/delivery/lists/listed.ts";
import { parsePerson, parsePhone } from "../../../args/people.ts";
import { readRange, type TimeFilter } from "../../../kit/time-flags.ts";
import { OUTPUTS } from "../../../../service/operations/define/outputs.ts";
import type { FlagGroup } from "../../../kit/flag-spec.ts";
import { toResource } from "../../../render/columns.ts";
import { serviceCommand } from "../service-command.ts";

export const DELIVERIES = toResource("surveys", OUTPUTS["delivery.list"], [
  "phone_number",
  "channel",
  "attempts",
  "sent_at",
]);

/**
 * `surveys` includes surveys that Autopilot will add. It excludes requests that weren't scheduled and, until the day is
 * over, canceled surveys.
 */
const DELIVERY_DAYS = toResource(
  "days",
  {
    period: "text",
    surveys: "number",
    autopilot: "number",
    ...Object.fromEntries(LISTED_STATES.map((state) => [state, "number"] as const)),
  },
  ["claimed", "transmitting", "retrying", "held", "unknown", "failed", "cancelled", "bounced"],
);

const RANGE: FlagGroup<TimeFilter> = {
  records: [
    { flag: "--since", value: "time", text: "due at or after" },
    { flag: "--until", value: "time", text: "due at or before, such as +7d" },
    {
      flag: "--period",
      value: "period",
      text: "due in a period such as next-week or 2026-05",
      conflicts: ["--since", "--until"],
    },
  ],
  read: (flags, deps) => readRange(deps, flags),
};

export const list = serviceCommand({
  operation: "delivery.list",
  summary: "list surveys by due time, newest first; --reason also lists what was not scheduled",
  examples: [
    "surveyctl service delivery list --state unknown --data survey.db",
    "surveyctl service delivery list --reason throttled --since 7d",
    "surveyctl service delivery list --period next-week --by day",
    "surveyctl service delivery list --state held --all -o csv",
  ],
  flags: {
    state: { value: "state", text: "only surveys in this state", choices: LISTED_STATES },
    reason: {
      value: "reason",
      text: "only surveys not sent, or not yet sent, for this reason",
      choices: LISTED_REASONS,
    },
    email: {
      value: "email",
      text: "only surveys to one person, by address or phone number",
      conflicts: ["--phone"],
      parse: parseAddress,
    },
    phone: { value: "phone", text: "only surveys to one person, by number (E.164)", parse: parsePhone },
    range: RANGE,
    order: { value: "order", text: "by due time", choices: ["asc", "desc"], otherwise: "desc; asc with --by" },
    by: {
      value: "period",
      text: "one row per day, in the project's time zone, with what Autopilot will add",
      choices: ["day"],
    },
  },
  columns: { ...DELIVERIES, json: [DELIVERIES.columns, DELIVERY_DAYS.columns] },
  pages: ({ by }) => (by === "day" ? DELIVERY_DAYS : DELIVERIES),
  input: ({ range, email, phone, order, ...which }) => ({
    ...which,
    ...range,
    order: order ?? (which.by === "day" ? "asc" : "desc"),
    email: email ?? phone,
  }),
});

function parseAddress(text: string, place: string): string {
  const person = parsePerson(text, place);
  return "email" in person ? person.email : person.phone_number;
}
