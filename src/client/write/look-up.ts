import { isJsonObject, type Json, type JsonObject } from "../../contract/json.ts";
import { PER_PAGE_MAX } from "../../contract/limits.ts";
import { ROUTES } from "../../contract/routes.ts";
import type { Client, Page } from "../client.ts";
import {
  isNamed,
  responseEvidence,
  spellingsOf,
  surveyEvidence,
  toNumber,
  type Identifier,
  type Moments,
  type Settlement,
} from "./evidence.ts";
import { listPages } from "../pages.ts";

export interface LookUp {
  readonly client: Pick<Client, "page" | "baseUrl">;
  /** At or before the first attempt, by the server's clock, which is known only after a response. */
  readonly intentAt: () => number;
  readonly signal: AbortSignal | undefined;
}

const NO_CLOCK: Settlement = { kind: "unsettled", reason: "the service sends no Date header" };

/** Whether `POST /v1/people.json` (4.2) arrived. Throws the errors of its own requests. */
export async function lookUpPerson(body: JsonObject, lookUp: LookUp): Promise<Settlement> {
  const change = renamed(body);
  if (change !== null) return await lookUpRenamed(body, change, lookUp);
  const identifiers = [...identifiersOf(body, "email", "phone_number")];
  let settlement: Settlement = { kind: "unsettled", reason: "the request has no e-mail address and no phone number" };
  for (const [index, identifier] of identifiers.entries()) {
    const next = await lookUpNamed(body, identifier, lookUp);
    if (next.kind === "arrived") return next;
    // A person counts as absent only if no identifier finds them.
    if (index === 0 || next.kind === "unsettled") settlement = next;
  }
  return settlement;
}

async function lookUpNamed(body: JsonObject, identifier: Identifier, lookUp: LookUp): Promise<Settlement> {
  const found = await findPerson(identifier, lookUp);
  if (found.kind !== "found") return found;
  if (body["send"] === false) return { kind: "unsettled", reason: "the person exists, perhaps from before" };
  return found.serverTime === null ? NO_CLOCK : surveyEvidence(found.person, body, moments(lookUp, found.serverTime));
}

interface Change {
  readonly before: Identifier;
  readonly after: Identifier;
}

/** The requested change of address; null if there is none, or if only the spelling changes. */
function renamed(body: JsonObject): Change | null {
  const [after] = identifiersOf(body, "email_update", "phone_number_update");
  if (after === undefined) return null;
  const before = [...identifiersOf(body, "email", "phone_number")].find((one) => "email" in one === "email" in after);
  return before === undefined || isNamed({ ...after }, before) ? null : { before, after };
}

async function lookUpRenamed(body: JsonObject, { before, after }: Change, lookUp: LookUp): Promise<Settlement> {
  const under = await findPerson(after, lookUp);
  if (under.kind !== "found") return under;
  const old = await findPerson(before, lookUp);
  if (old.kind !== "absent")
    return { kind: "unsettled", reason: "both the old and the new address belong to a person" };
  if (body["send"] === false) {
    return {
      kind: "arrived",
      evidence: "the person is there under the new address and not under the old one",
      found: under.person,
    };
  }
  return under.serverTime === null ? NO_CLOCK : surveyEvidence(under.person, body, moments(lookUp, under.serverTime));
}

type Found =
  | { readonly kind: "found"; readonly person: JsonObject; readonly serverTime: number | null }
  | Extract<Settlement, { kind: "absent" | "unsettled" }>;

async function findPerson(identifier: Identifier, { client, signal }: LookUp): Promise<Found> {
  for (const spelling of spellingsOf(identifier)) {
    const { rows, serverTime } = await client.page({
      route: ROUTES.listPeople,
      parameters: { ...spelling },
      ...(signal && { signal }),
    });
    const person = rows.find((row) => isNamed(row, identifier));
    if (person !== undefined) return { kind: "found", person, serverTime };
    if (rows.length > 0) return { kind: "unsettled", reason: "the service's list does not filter by person" };
  }
  return { kind: "absent", evidence: "the service has no such person" };
}

/** The email address comes first. */
export function* identifiersOf(body: JsonObject, email: string, phone: string): Generator<Identifier> {
  const [emailValue, phoneValue] = [body[email], body[phone]];
  if (typeof emailValue === "string" && emailValue !== "") yield { email: emailValue };
  if (typeof phoneValue === "string" && phoneValue !== "") yield { phone_number: phoneValue };
}

function moments({ intentAt }: LookUp, lookedAt: number): Moments {
  return { intentAt: intentAt(), lookedAt };
}

const PAGES_MAX = 50;

/** Whether `POST /v1/survey_responses.json` (4.4) arrived. Throws the errors of its own requests. */
export async function lookUpResponse(body: JsonObject, lookUp: LookUp): Promise<Settlement> {
  const person = idText(body["person"]);
  const createdAt = toNumber(body["created_at"]);
  const time = createdAt === null ? {} : { since: createdAt, until: createdAt };
  const parameters = { person_id: person, per_page: PER_PAGE_MAX, ...time };
  const { client, signal } = lookUp;
  let doubt: Settlement | null = null;
  let pages = 0;
  for await (const page of listPages(client, { route: ROUTES.listResponses, parameters, ...(signal && { signal }) })) {
    if (page.serverTime === null) return NO_CLOCK;
    const settlement = pageEvidence(page, person, body, moments(lookUp, page.serverTime));
    if (settlement?.kind === "arrived") return settlement;
    doubt ??= settlement;
    pages += 1;
    if (pages >= PAGES_MAX) return { kind: "unsettled", reason: "the person has too many responses to look through" };
  }
  return doubt ?? { kind: "absent", evidence: "the person has no such response" };
}

function pageEvidence(page: Page, person: string, body: JsonObject, at: Moments): Settlement | null {
  const own = page.rows.filter((row) => personIdOf(row) === person);
  if (own.length < page.rows.length)
    return { kind: "unsettled", reason: "the service's list does not filter by person" };
  const settlements = own.map((row) => responseEvidence(row, body, at)).filter((settlement) => settlement !== null);
  return settlements.find(({ kind }) => kind === "arrived") ?? settlements[0] ?? null;
}

/** `person` may be an id or the expanded object. */
export function personIdOf({ person }: JsonObject): string {
  return idText(isJsonObject(person) ? person["id"] : person);
}

/** Some servers and callers write ids as numbers. */
export function idText(id: Json | undefined): string {
  return typeof id === "string" || typeof id === "number" ? String(id) : "";
}
