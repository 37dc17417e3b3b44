/** One person with all that the service tells of them: our own by one call, others by the lists of their API. */
import type { Client, Parameters } from "../../../../client/client.ts";
import { RefusedError } from "../../../../client/errors/call-errors.ts";
import { isJsonObject, type Json, type JsonObject } from "../../../../contract/json.ts";
import { type Platform, PLATFORMS } from "../../../../contract/resources.ts";
import { PER_PAGE_MAX } from "../../../../contract/limits.ts";
import { ROUTES } from "../../../../contract/routes.ts";
import type { PersonName } from "../../../args/people.ts";
import { NothingFoundError } from "../../../errors/command-errors.ts";
import { findPerson, personNotFound } from "../../shared/find-person.ts";

export interface KnownPerson {
  /** Their fields; of our own service also properties, surveys and why they will or will not be surveyed. */
  readonly person: JsonObject;
  /** True where the service told all that by itself. */
  readonly isComplete: boolean;
  readonly autopilot: Readonly<Record<Platform, JsonObject | null>>;
  readonly responses: readonly JsonObject[];
}

const RESPONSES_SHOWN = 10;

export async function readPersonPage(client: Client, named: PersonName, signal: AbortSignal): Promise<KnownPerson> {
  const listed = "id" in named ? null : await findPerson(client, named, signal);
  if (listed === null && !("id" in named)) throw new NothingFoundError(personNotFound(named));
  const id = "id" in named ? named.id : idOf(listed?.json ?? null);
  const details = await getDetails(client, id, signal);
  const person = details ?? listed?.json ?? (await findById(client, id, signal));
  if (person === null)
    throw new NothingFoundError(`${personNotFound({ id })}, or this service cannot look people up by id`, USE_ADDRESS);
  const autopilot = { email: null, sms: null, ...(await readMemberships(client, id, signal)) };
  const responses = await ownRows(client, { person_id: id, order: "desc", per_page: RESPONSES_SHOWN }, signal);
  const left = details === null ? await readSuppressions(client, person, signal) : {};
  return { person: { ...person, ...left }, isComplete: details !== null, autopilot, responses };
}

const USE_ADDRESS = "use an email address or a phone number";

/** Null for a service without the endpoint, or one that does not know the id. */
async function getDetails(client: Client, id: string, signal: AbortSignal): Promise<JsonObject | null> {
  const call = client.call({ route: ROUTES.getPerson, placeholders: { person: id }, signal });
  return orNull(call.then(({ json }) => ("surveys" in json ? json : null)));
}

async function orNull<Value>(work: Promise<Value>): Promise<Value | null> {
  try {
    return await work;
  } catch (error) {
    if (error instanceof RefusedError) return null;
    throw error;
  }
}

/** By an answer or a membership, which name their person; null where neither knows the id. */
async function findById(client: Client, id: string, signal: AbortSignal): Promise<JsonObject | null> {
  const parameters = { person_id: id, per_page: 1, expand: ["person"] };
  const [response] = await ownRows(client, parameters, signal);
  const memberships = await readMemberships(client, id, signal);
  const [member = null] = Object.values(memberships);
  const named = response?.["person"] ?? member?.["person"] ?? null;
  if (!isJsonObject(named)) return null;
  const { email } = named;
  const listed = typeof email === "string" ? await findPerson(client, { email }, signal) : null;
  return listed?.json ?? named;
}

/** A person's responses; a list that does not filter has those of others too. */
async function ownRows(client: Client, parameters: Parameters, signal: AbortSignal): Promise<readonly JsonObject[]> {
  const { rows } = await client.page({ route: ROUTES.listResponses, parameters, signal });
  return rows.filter(({ person = null }) => idOf(person) === parameters["person_id"]);
}

function idOf(person: Json): string {
  const id = isJsonObject(person) ? person["id"] : person;
  return typeof id === "string" || typeof id === "number" ? String(id) : "";
}

async function readMemberships(
  client: Client,
  id: string,
  signal: AbortSignal,
): Promise<Partial<Record<Platform, JsonObject>>> {
  const found: Partial<Record<Platform, JsonObject>> = {};
  for (const platform of PLATFORMS) {
    const parameters = { person_id: id, per_page: 1 };
    const page = await orNull(
      client.page({ route: ROUTES.listMembers, placeholders: { platform }, parameters, signal }),
    );
    const member = page?.rows.find(({ person = null }) => idOf(person) === id);
    if (member !== undefined) found[platform] = member;
  }
  return found;
}

/** People leave and bounce after they are created, so the lists are read from then on. */
async function readSuppressions(client: Client, person: JsonObject, signal: AbortSignal): Promise<JsonObject> {
  const since = typeof person["created_at"] === "number" ? person["created_at"] : null;
  const find = async (list: "listUnsubscribes" | "listBounces", field: string): Promise<Json> => {
    for await (const { rows } of client[list]({ since, per_page: PER_PAGE_MAX }, { signal })) {
      const row = rows.find(({ person_id: id = null }) => idOf(id) === idOf(person));
      if (row !== undefined) return row[field] ?? null;
    }
    return null;
  };
  return {
    unsubscribed_at: await find("listUnsubscribes", "unsubscribed_at"),
    bounced_at: await find("listBounces", "bounced_at"),
  };
}
