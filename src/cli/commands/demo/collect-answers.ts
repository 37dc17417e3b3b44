import type { Client } from "../../../client/client.ts";
import type { JsonObject } from "../../../contract/json.ts";
import type { Random } from "../../../runtime/random.ts";
import type { Customer } from "./customers.ts";
import { sampleAnswers, type Answer } from "./sample-answers.ts";

/** How many people were asked and how many answered. */
export interface Collected {
  readonly asked: number;
  readonly answered: number;
}

/** Lets a plausible share of everybody whom the service knows answer, each with the properties of their survey. */
export async function collectAnswers(
  client: Client,
  customers: readonly Customer[],
  random: Random,
  signal: AbortSignal,
): Promise<Collected> {
  const people = await readPeople(client, signal);
  const answers = sampleAnswers(people.length, random);
  for (const [index, answer] of answers.entries()) {
    const person = people[index];
    if (answer !== null && person !== undefined)
      await client.addResponse(toBody(person, answer, customers), { signal });
  }
  return { asked: people.length, answered: answers.filter((answer) => answer !== null).length };
}

async function readPeople(client: Client, signal: AbortSignal): Promise<JsonObject[]> {
  const people: JsonObject[] = [];
  for await (const page of client.listPeople({ per_page: 100 }, { signal })) people.push(...page.rows);
  return people;
}

function toBody(person: JsonObject, { score, comment }: Answer, customers: readonly Customer[]): JsonObject {
  const customer = customers.find(({ email, phoneNumber }) =>
    email === "" ? phoneNumber === person["phone_number"] : email === person["email"],
  );
  return {
    person: person["id"] ?? null,
    score,
    person_properties: { ...customer?.properties },
    ...(comment === null ? {} : { comment }),
  };
}
