import { quoteText } from "../../../contract/text/invisible.ts";
import { type EmailOrPhone, parsePerson } from "../../args/people.ts";
import { withClient } from "../../kit/deps.ts";
import { NothingFoundError } from "../../errors/command-errors.ts";
import { UsageError } from "../../errors/usage-error.ts";
import { defineCommand } from "../../kit/define-command.ts";
import { checkColumns, writeRecord } from "../../render/record-output.ts";
import { ONE_PERSON, PEOPLE } from "../../render/resources.ts";
import { findPerson, personNotFound } from "../shared/find-person.ts";
import { WITH_PROPERTIES } from "./person-filters.ts";

/** An e-mail address, or a phone number with its `+`. */
export const PERSON_ARG = {
  form: "<email|+phone>",
  text: "the person's e-mail address or phone number (E.164)",
  parse: parsePersonArg,
} as const;

export const get = defineCommand({
  name: "get",
  summary: "show one person",
  args: { person: PERSON_ARG },
  examples: ["surveyctl people get ada@example.com", "surveyctl people get +14155550101 --json"],
  columns: ONE_PERSON,
  run: async (deps, { person }) => {
    checkColumns(deps, ONE_PERSON);
    const found = await withClient(deps, (client) => findPerson(client, person, deps.signal, WITH_PROPERTIES));
    if (found === null) throw new NothingFoundError(personNotFound(person));
    await writeRecord(deps, "properties" in found.json || deps.options.columns !== null ? ONE_PERSON : PEOPLE, found);
  },
});

function parsePersonArg(text: string): EmailOrPhone {
  if (!/^\d{1,6}$/.test(text.trim())) return parsePerson(text, "person");
  throw new UsageError(`person: ${quoteText(text)} is an id, and this API cannot look people up by id`, {
    hint: `use an email address or a phone number; surveyctl responses list --person-id ${text} shows whose id it is`,
  });
}
