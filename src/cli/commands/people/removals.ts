import type { Client } from "../../../client/client.ts";
import { ROUTES } from "../../../contract/routes.ts";
import type { PersonName } from "../../args/people.ts";
import { NothingFoundError } from "../../errors/command-errors.ts";
import { personText, requirePerson } from "../shared/find-person.ts";
import { changePeople, toPathName } from "./change-people.ts";

export const removals = [
  changePeople({
    name: "delete",
    alias: "rm",
    summary: "delete people with their surveys and responses",
    examples: [
      "surveyctl people delete ada@example.com",
      "surveyctl people delete +14155550101 42 --yes",
      "surveyctl people delete --from leavers.csv --yes",
      "surveyctl people delete --domain example.com",
    ],
    question: (who, baseUrl) => `Delete ${who} with surveys and responses at ${baseUrl}?`,
    outcome: "deleted",
    lacking: "this service cannot delete people",
    plan: (_client, person) =>
      Promise.resolve({ route: ROUTES.deletePerson, placeholders: { person: toPathName(person) } }),
  }),
  changePeople({
    name: "cancel",
    summary: "cancel people's surveys that have not been sent yet",
    examples: ["surveyctl people cancel ada@example.com", "surveyctl people cancel --from leavers.csv --yes"],
    question: (who, baseUrl) => `Cancel the surveys of ${who} that were not sent yet at ${baseUrl}?`,
    outcome: "cancelled",
    lacking: "this service cannot cancel surveys",
    async plan(client, person, signal) {
      // This endpoint takes the plain address without an `email:` prefix, as client libraries send it.
      const email = await emailOf(client, person, signal);
      return { route: ROUTES.cancelSurveys, placeholders: { email: email ?? toPathName(person) } };
    },
  }),
  changePeople({
    name: "unsubscribe",
    summary: "unsubscribe people from surveys by e-mail; their responses stay",
    examples: [
      "surveyctl people unsubscribe ada@example.com",
      "surveyctl people unsubscribe --from unsubscribed.txt --yes",
    ],
    question: (who, baseUrl) => `Unsubscribe ${who} from surveys by e-mail at ${baseUrl}?`,
    outcome: "unsubscribed",
    lacking: "this service cannot unsubscribe people",
    async plan(client, person, signal) {
      return { route: ROUTES.unsubscribe, body: { person_email: await requireEmail(client, person, signal) } };
    },
  }),
];

async function emailOf(client: Client, person: PersonName, signal: AbortSignal): Promise<string | null> {
  if ("email" in person) return person.email;
  if ("id" in person) return null;
  const { email } = (await requirePerson(client, person, signal)).json;
  return typeof email === "string" ? email : null;
}

export async function requireEmail(client: Client, person: PersonName, signal: AbortSignal): Promise<string> {
  const email = await emailOf(client, person, signal);
  if (email !== null) return email;
  throw new NothingFoundError(
    "id" in person
      ? `${personText(person)} is an id, and this call takes an e-mail address`
      : `${personText(person)} has no e-mail address`,
  );
}
