import type { Client } from "../../../client/client.ts";
import type { JsonObject } from "../../../contract/json.ts";
import { SCORE_MAX, SCORE_MIN } from "../../../contract/limits.ts";
import { ROUTES } from "../../../contract/routes.ts";
import { type EmailOrPhone, parseEmail, parsePhone } from "../../args/people.ts";
import { parseKeyValue, parseName, parseScore } from "../../args/values.ts";
import { withClient } from "../../kit/deps.ts";
import { noPersonWithId, withRefusals } from "../../kit/refusals.ts";
import { parseRecordedTime } from "../../kit/time-flags.ts";
import { showOutcome, toBody, writeDryRun } from "../../kit/write-outcome.ts";
import { defineCommand } from "../../kit/define-command.ts";
import { flagGroup } from "../../kit/flag-spec.ts";
import type { Column, Resource } from "../../render/columns.ts";
import { RESPONSES } from "../../render/resources.ts";
import { exactlyOnePerson, idOfPerson, requirePerson } from "../shared/find-person.ts";

const PERSON = flagGroup({
  personId: { value: "id", text: "who answered", parse: parseName },
  email: { value: "email", text: "who answered, looked up by address", parse: parseEmail },
  phone: { value: "phone", text: "who answered, looked up by number (E.164)", parse: parsePhone },
});

export const add = defineCommand({
  name: "add",
  summary: "add a response that was collected elsewhere",
  examples: [
    "surveyctl responses add --email ada@example.com --score 9 --comment 'Great support'",
    "surveyctl responses add --person-id 2 --score 3 --created-at 2026-01-31 --property plan=pro",
  ],
  flags: {
    person: PERSON,
    score: { value: "n", text: `${SCORE_MIN} to ${SCORE_MAX}`, parse: parseScore, required: true },
    comment: { value: "text", text: "what they wrote" },
    property: { value: "key=value", text: "a property of this response", repeatable: true, parse: parseKeyValue },
    createdAt: { value: "time", text: "when it was collected", otherwise: "now", parse: parseRecordedTime },
  },
  columns: RESPONSES,
  async run(deps, { person: given, score, comment, property: properties, createdAt }) {
    const name = exactlyOnePerson(given);
    return withClient(deps, async (client) => {
      if (!deps.options.dryRun) client.checkMayWrite();
      const { id: person, answer } =
        "id" in name ? { id: name.id, answer: RESPONSES } : await findAnswerer(client, name, deps.signal);
      const body = toBody({
        person,
        score,
        person_properties: properties.length > 0 ? Object.fromEntries(properties) : null,
        comment,
        created_at: createdAt,
      });
      if (deps.options.dryRun) return writeDryRun(deps, client.baseUrl, { route: ROUTES.addResponse, body });
      const write = withRefusals(
        client.addResponse(body, { signal: deps.signal }),
        noPersonWithId("id" in name ? name.id : null, "person"),
      );
      const evidence = `look with "surveyctl responses list --person-id ${person}" before trying again: a repeat would count twice`;
      return showOutcome(deps, write, { answer, found: answer, evidence });
    });
  },
});

async function findAnswerer(client: Client, person: EmailOrPhone, signal: AbortSignal) {
  const flag = "email" in person ? `--email ${person.email}` : `--phone ${person.phone_number}`;
  const hint = `add them first: surveyctl people add ${flag} --no-send`;
  const found = await requirePerson(client, person, signal, { hint });
  return { id: idOfPerson(client, found), answer: withPerson(found.json) };
}

/** The API returns only the person's id (4.4); the rest is from the look-up. */
function withPerson({ email, name }: JsonObject): Resource {
  const known: JsonObject = { person_email: email ?? null, person_name: name ?? null };
  const columns = RESPONSES.columns.map((column): Column => ({
    ...column,
    read: (row) => column.read(row) ?? known[column.name],
  }));
  return { ...RESPONSES, columns };
}
