import type { Client, Parameters } from "../../../../client/client.ts";
import { idText, personIdOf } from "../../../../client/write/look-up.ts";
import { isJsonObject, type Json, type JsonObject } from "../../../../contract/json.ts";
import { type Platform, PLATFORMS } from "../../../../contract/resources.ts";
import { PER_PAGE_MAX } from "../../../../contract/limits.ts";
import { ROUTES } from "../../../../contract/routes.ts";
import type { PersonName } from "../../../args/people.ts";
import { NothingFoundError } from "../../../errors/command-errors.ts";
import { nullIfRefused } from "../../../kit/refusals.ts";
import { findPerson, personNotFound, requirePerson } from "../../shared/find-person.ts";

export interface KnownPerson {
  /** Our own service also sends properties, surveys and the survey status. */
  readonly person: JsonObject;
  readonly isComplete: boolean;
  readonly autopilot: Readonly<Record<Platform, JsonObject | null>>;
  readonly responses: readonly JsonObject[];
}

const RESPONSES_SHOWN = 10;

export async function readPersonPage(client: Client, named: PersonName, signal: AbortSignal): Promise<KnownPerson> {
  const listed = "id" in named ? null : await requirePerson(client, named, signal);
  const id = "id" in named ? named.id : idText(listed?.json["id"]);
  const details = await getDetails(client, id, signal);
  const person = details ?? listed?.json ?? (await findById(client, id, signal));
  if (person === null)
    throw new NothingFoundError(
      `${personNotFound({ id })}, or this service cannot look people up by id`,
      "use an email address or a phone number",
    );
  const autopilot = { email: null, sms: null, ...(await readMemberships(client, id, signal)) };
  const responses = await ownRows(client, { person_id: id, order: "desc", per_page: RESPONSES_SHOWN }, signal);
  const left = details === null ? await readSuppressions(client, person, signal) : {};
  return { person: { ...person, ...left }, isComplete: details !== null, autopilot, responses };
}

async function getDetails(client: Client, id: string, signal: AbortSignal): Promise<JsonObject | null> {
  const call = client.call({ route: ROUTES.getPerson, placeholders: { person: id }, signal });
  return nullIfRefused(call.then(({ json }) => ("surveys" in json ? json : null)));
}

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

/** Some services ignore the filter, so other people's responses are dropped. */
async function ownRows(client: Client, parameters: Parameters, signal: AbortSignal): Promise<readonly JsonObject[]> {
  const { rows } = await client.page({ route: ROUTES.listResponses, parameters, signal });
  return rows.filter((row) => personIdOf(row) === parameters["person_id"]);
}

async function readMemberships(
  client: Client,
  id: string,
  signal: AbortSignal,
): Promise<Partial<Record<Platform, JsonObject>>> {
  const found: Partial<Record<Platform, JsonObject>> = {};
  for (const platform of PLATFORMS) {
    const parameters = { person_id: id, per_page: 1 };
    const page = await nullIfRefused(
      client.page({ route: ROUTES.listMembers, placeholders: { platform }, parameters, signal }),
    );
    const member = page?.rows.find((row) => personIdOf(row) === id);
    if (member !== undefined) found[platform] = member;
  }
  return found;
}

/** Reads the lists from the time the person was created, because they can't have unsubscribed or bounced before. */
async function readSuppressions(client: Client, person: JsonObject, signal: AbortSignal): Promise<JsonObject> {
  const since = typeof person["created_at"] === "number" ? person["created_at"] : null;
  const find = async (list: "listUnsubscribes" | "listBounces", field: string): Promise<Json> => {
    for await (const { rows } of client[list]({ since, per_page: PER_PAGE_MAX }, { signal })) {
      const row = rows.find(({ person_id: id }) => idText(id) === idText(person["id"]));
      if (row !== undefined) return row[field] ?? null;
    }
    return null;
  };
  return {
    unsubscribed_at: await find("listUnsubscribes", "unsubscribed_at"),
    bounced_at: await find("listBounces", "bounced_at"),
  };
}
