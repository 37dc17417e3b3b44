import { quoteText } from "../../../contract/text/invisible.ts";
import { type EmailOrPhone, parsePerson, parsePersonName } from "../../args/people.ts";
import { withClient } from "../../kit/deps.ts";
import { UsageError } from "../../errors/usage-error.ts";
import { defineCommand } from "../../kit/define-command.ts";
import { writeRecord } from "../../render/record-output.ts";
import { ONE_PERSON, PEOPLE } from "../../render/resources.ts";
import { requirePerson } from "../shared/find-person.ts";
import { WITH_PROPERTIES } from "./person-filters.ts";

export const PERSON_ARG = {
  form: "<email|+phone>",
  text: "the person's e-mail address or phone number (E.164)",
  parse: parsePersonArg,
} as const;

export const PERSON_OR_ID_ARG = {
  form: "<email|+phone|id>",
  text: "the person's e-mail address, phone number (E.164) or id",
  parse: (text: string) => parsePersonName(text, "person"),
} as const;

export const get = defineCommand({
  name: "get",
  summary: "show one person",
  args: { person: PERSON_ARG },
  examples: ["surveyctl people get ada@example.com", "surveyctl people get +14155550101 --json"],
  columns: ONE_PERSON,
  run: async (deps, { person }) => {
    const found = await withClient(deps, (client) =>
      requirePerson(client, person, deps.signal, { more: WITH_PROPERTIES }),
    );
    await writeRecord(deps, "properties" in found.json || deps.options.columns !== null ? ONE_PERSON : PEOPLE, found);
  },
});

function parsePersonArg(text: string): EmailOrPhone {
  if (!/^\d{1,6}$/.test(text.trim())) return parsePerson(text, "person");
  throw new UsageError(`person: ${quoteText(text)} is an id, and this API cannot look people up by id`, {
    hint: `use an email address or a phone number; surveyctl responses list --person-id ${text} shows whose id it is`,
  });
}
