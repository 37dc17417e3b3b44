import { ROUTES } from "../../../contract/routes.ts";
import { parsePersonName } from "../../args/people.ts";
import { UsageError } from "../../errors/usage-error.ts";
import { defineCommand } from "../../kit/define-command.ts";
import { CHANGED_PEOPLE, runPeopleChange } from "./change-people.ts";
import { PERSON_ARG } from "./get.ts";
import { requireEmail } from "./removals.ts";

export const resubscribe = defineCommand({
  name: "resubscribe",
  summary: "let a person who unsubscribed or bounced get surveys again, and record why",
  args: { person: { ...PERSON_ARG, parse: (text: string) => parsePersonName(text, "person") } },
  examples: [
    "surveyctl people resubscribe ada@example.com --note 'asked for it by phone, Eve 2026-11-24'",
    "surveyctl people resubscribe ada@example.com --note 'mailbox works again' --dry-run",
  ],
  flags: { note: { value: "text", text: "who asked for it and why", required: true } },
  columns: CHANGED_PEOPLE,
  run: (deps, input) => {
    const note = input.note.trim();
    if (note === "") throw new UsageError("--note: must say who asked for it and why");
    const change = {
      name: "resubscribe",
      outcome: "resubscribed",
      lacking: "this service cannot resubscribe people",
      plan: async (...[client, named, signal]: Parameters<typeof requireEmail>) => ({
        route: ROUTES.resubscribe,
        body: { person_email: await requireEmail(client, named, signal), note },
      }),
    };
    return runPeopleChange(deps, change, [input.person], true);
  },
});
