/** `service delivery list`: surveys by the time for which they were scheduled, or the days with their numbers. */
import type { Command } from "commander";
import type { CommandOf } from "../../../../service/admin/commands.ts";
import {
  LISTED_REASONS,
  LISTED_STATES,
  type ListedReason,
  type ListedState,
} from "../../../../service/domain/delivery/lists/listed.ts";
import { parseChoice } from "../../../args/values.ts";
import type { Flags } from "../../../args/flags.ts";
import { parsePerson, parsePhone } from "../../../args/people.ts";
import type { CommandContext } from "../../../command/command-context.ts";
import type { Deps } from "../../../command/deps.ts";
import { LIST_FLAGS, type ListLimits, readLimits } from "../../../command/list-rows.ts";
import { readRange, type TimeFilter } from "../../../command/time-flags.ts";
import { UsageError } from "../../../errors/usage-error.ts";
import { EXIT, type ExitCode } from "../../../exit-codes.ts";
import { PROJECT_FLAGS, type ProjectChoice, readProject, showPages } from "../data/data-file.ts";
import { DELIVERIES, DELIVERY_DAYS } from "../service-resources.ts";

const ORDERS = ["asc", "desc"] as const;
const GROUPS = ["day"] as const;

interface DeliveryListOptions extends ProjectChoice {
  readonly state: ListedState | null;
  readonly reason: ListedReason | null;
  /** An e-mail address or a phone number. */
  readonly email: string | null;
  readonly range: TimeFilter;
  readonly order: (typeof ORDERS)[number];
  readonly byDay: boolean;
  readonly limits: ListLimits;
}

async function runDeliveryList(deps: Deps, options: DeliveryListOptions): Promise<ExitCode> {
  const { byDay, limits, data } = options;
  const which = toCommand(options);
  return showPages(deps, {
    data,
    limits,
    resource: byDay ? DELIVERY_DAYS : DELIVERIES,
    fetch: (admin, after, limit) =>
      byDay
        ? admin({ kind: "delivery.days", ...which, after, limit })
        : admin({ kind: "delivery.list", ...which, after, limit }),
  });
}

type Which = Omit<CommandOf<"delivery.list">, "kind" | "after" | "limit">;

function toCommand({ project, state, reason, email, range, order }: DeliveryListOptions): Which {
  const { since, until } = range;
  return {
    project,
    order,
    ...(state !== null && { state }),
    ...(reason !== null && { reason }),
    ...(email !== null && { email }),
    ...(since !== null && { since }),
    ...(until !== null && { until }),
  };
}

export function registerDeliveryList(noun: Command, context: CommandContext): void {
  const list = context.verb(noun, {
    name: "list",
    alias: "ls",
    summary: "list surveys by due time, newest first; --reason also lists what was not scheduled",
    examples: [
      "surveyctl service delivery list --state unknown --data survey.db",
      "surveyctl service delivery list --reason throttled --since 7d",
      "surveyctl service delivery list --since now --until +7d --by day",
      "surveyctl service delivery list --state held --all -o csv",
    ],
    exits: [EXIT.done, EXIT.failed, EXIT.refused],
    flags: [
      ...PROJECT_FLAGS,
      { flag: "--state", value: "state", text: "only surveys in this state", choices: LISTED_STATES },
      {
        flag: "--reason",
        value: "reason",
        text: "only surveys not sent, or not yet sent, for this reason",
        choices: LISTED_REASONS,
      },
      { flag: "--email", value: "email", text: "only surveys to one person, by address or phone number" },
      { flag: "--phone", value: "phone", text: "only surveys to one person, by number (E.164)" },
      { flag: "--since", value: "time", text: "due at or after" },
      { flag: "--until", value: "time", text: "due at or before, such as +7d" },
      { flag: "--order", value: "order", text: "by due time", choices: ORDERS, default: "desc" },
      { flag: "--by", value: "period", text: "one row per day, in the project's time zone", choices: GROUPS },
      ...LIST_FLAGS,
    ],
    columns: DELIVERIES,
  });
  context.action(list, (deps, flags) => runDeliveryList(deps, readOptions(deps, flags)));
}

function parseAddress(text: string, place: string): string {
  const person = parsePerson(text, place);
  return "email" in person ? person.email : person.phone_number;
}

/** Throws UsageError. */
function readOptions(deps: Deps, flags: Flags): DeliveryListOptions {
  const email = flags.parse("--email", parseAddress);
  const phone = flags.parse("--phone", parsePhone);
  if (email !== null && phone !== null) throw new UsageError("--email and --phone cannot be used together");
  return {
    ...readProject(flags),
    state: flags.parse("--state", (text, flag) => parseChoice(text, flag, LISTED_STATES)),
    reason: flags.parse("--reason", (text, flag) => parseChoice(text, flag, LISTED_REASONS)),
    email: email ?? phone,
    range: readRange(deps, flags, { since: "--since", until: "--until" }),
    order: flags.parse("--order", (text, flag) => parseChoice(text, flag, ORDERS)) ?? "desc",
    byDay: flags.parse("--by", (text, flag) => parseChoice(text, flag, GROUPS)) !== null,
    limits: readLimits(flags),
  };
}
