import type { Command } from "commander";
import { ROUTES } from "../../../contract/routes.ts";
import { parsePersonName } from "../../args/people.ts";
import type { CommandContext } from "../../command/command-context.ts";
import { UsageError } from "../../errors/usage-error.ts";
import { EXIT } from "../../exit-codes.ts";
import { CHANGED_PEOPLE, runPeopleChange } from "./change-people.ts";
import { requireEmail } from "./removals.ts";

export function registerPeopleResubscribe(noun: Command, context: CommandContext): void {
  const command = context.verb(noun, {
    name: "resubscribe",
    summary: "send surveys again to a person who unsubscribed or bounced, and record why",
    operands: [["<email|+phone>", "the person's e-mail address or phone number (E.164)"]],
    examples: [
      "surveyctl people resubscribe ada@example.com --note 'asked for it by phone, Eve 2026-11-24'",
      "surveyctl people resubscribe ada@example.com --note 'mailbox works again' --dry-run",
    ],
    exits: [EXIT.done, EXIT.failed, EXIT.auth, EXIT.refused],
    flags: [{ flag: "--note", value: "text", text: "who asked for it and why; required" }],
    columns: CHANGED_PEOPLE,
  });
  context.action(command, async (deps, flags, [person = ""]) => {
    const note = flags.text("--note")?.trim() ?? "";
    if (note === "") throw new UsageError("people resubscribe: specify --note with who asked for it and why");
    const change = {
      command: "people resubscribe",
      question: () => "",
      outcome: "resubscribed",
      lacking: "this service cannot resubscribe people",
      plan: async (...[client, named, signal]: Parameters<typeof requireEmail>) => ({
        route: ROUTES.resubscribe,
        body: { person_email: await requireEmail(client, named, signal), note },
      }),
    };
    return runPeopleChange(deps, change, [parsePersonName(person, "person")], true);
  });
}
