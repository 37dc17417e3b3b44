/** People who must not be mailed: read once before anything is sent, and matched by person, e-mail and phone. */
import { endTogether, inParallel } from "../../runtime/parallel.ts";
import type { Client, Page } from "../../client/client.ts";
import { spellingsOf, type Identifier } from "../../client/write/evidence.ts";
import type { ImportRow } from "../../bulk/import/check/row-kind.ts";
import { decideRows, type RowSource } from "../../bulk/import/journal/decide-rows.ts";
import { emailKey } from "../../contract/text/email.ts";
import type { Json, JsonObject } from "../../contract/json.ts";
import { PER_PAGE_MAX } from "../../contract/limits.ts";
import { ROUTES } from "../../contract/routes.ts";
import { ImportStoppedError } from "../errors/command-errors.ts";

/** The reason why a row's person must not be mailed; null when there is no reason. */
export type SuppressionList = (row: ImportRow) => string | null;

interface Suppressions {
  readonly byEmail: ReadonlyMap<string, string>;
  readonly byId: ReadonlyMap<string, string>;
  /** Some entries identify a person by the id alone. */
  readonly hasUnaddressed: boolean;
}

export interface SuppressionOptions {
  readonly client: Client;
  /** The rows that are about to be sent. */
  readonly source: RowSource;
  readonly concurrency: number;
  readonly signal: AbortSignal;
}

/**
 * Bounces and unsubscribes. A row that an e-mail address alone cannot match is looked up: one with a phone number,
 * and any row where the lists have people without an address. Throws ImportStoppedError where the service's list does
 * not filter.
 */
export async function readSuppressed(options: SuppressionOptions): Promise<SuppressionList> {
  const suppressions = await readLists(options);
  const reasons = new Map<number, string>();
  if (suppressions.byId.size > 0) await lookUpRows(options, suppressions, reasons);
  return ({ line, values }) => reasonOf(values["email"], suppressions) ?? reasons.get(line) ?? null;
}

async function readLists({ client, signal }: SuppressionOptions): Promise<Suppressions> {
  const byEmail = new Map<string, string>();
  const byId = new Map<string, string>();
  let hasUnaddressed = false;
  const take = async (pages: AsyncGenerator<Page>, reason: string): Promise<void> => {
    for await (const { rows } of pages)
      for (const { email, person_id: id } of rows) {
        if (typeof email === "string" && email !== "") byEmail.set(emailKey(email), reason);
        else hasUnaddressed = true;
        if (id !== undefined && id !== null) byId.set(keyOf(id), reason);
      }
  };
  await take(client.listBounces({ per_page: PER_PAGE_MAX }, { signal }), "suppressed: the address bounced");
  await take(client.listUnsubscribes({ per_page: PER_PAGE_MAX }, { signal }), "suppressed: the person unsubscribed");
  return { byEmail, byId, hasUnaddressed };
}

/** Services may write ids as numbers; digits that such a number loses are lost on both sides. */
function keyOf(id: Json | undefined): string {
  return typeof id === "string" ? id : JSON.stringify(id ?? null);
}

function reasonOf(email: unknown, { byEmail }: Suppressions): string | null {
  return typeof email === "string" ? (byEmail.get(emailKey(email)) ?? null) : null;
}

/** Notes why a row is suppressed by its line. */
async function lookUpRows(
  { client, source, concurrency, signal }: SuppressionOptions,
  suppressions: Suppressions,
  reasons: Map<number, string>,
): Promise<void> {
  await endTogether(signal, (own) =>
    inParallel(rowsToLookUp(source, suppressions), concurrency, async ({ line, parameters }) => {
      const reason = await lookUp(client, parameters, suppressions, own);
      if (reason !== null) reasons.set(line, reason);
    }),
  );
}

interface RowToLookUp {
  readonly line: number;
  readonly parameters: Identifier;
}

async function* rowsToLookUp(source: RowSource, suppressions: Suppressions): AsyncGenerator<RowToLookUp> {
  for await (const decision of decideRows(source)) {
    if (decision.kind !== "send") continue;
    const { line, values } = decision.row;
    const { email, phone_number: phone } = values;
    if (reasonOf(email, suppressions) !== null) continue;
    if (typeof phone === "string") yield { line, parameters: { phone_number: phone } };
    if (typeof email === "string" && suppressions.hasUnaddressed)
      for (const parameters of spellingsOf({ email })) yield { line, parameters };
  }
}

async function lookUp(
  client: Client,
  identifier: Identifier,
  suppressions: Suppressions,
  signal: AbortSignal,
): Promise<string | null> {
  const { rows } = await client.page({ route: ROUTES.listPeople, parameters: { ...identifier }, signal });
  const people = rows.filter((row) => isNamed(row, identifier));
  if (people.length < rows.length) {
    const [named, by] = "email" in identifier ? [identifier.email, "email"] : [identifier.phone_number, "phone number"];
    throw new ImportStoppedError(
      "suppression_unknown",
      `cannot tell whether ${named} is suppressed: the service's list of people does not filter by ${by}`,
      { hint: "nothing was sent; leave such rows out, or import without --skip-suppressed" },
    );
  }
  for (const person of people) {
    const reason = suppressions.byId.get(keyOf(person["id"])) ?? reasonOf(person["email"], suppressions);
    if (reason !== null) return reason;
  }
  return null;
}

function isNamed(person: JsonObject, identifier: Identifier): boolean {
  if ("phone_number" in identifier) return person["phone_number"] === identifier.phone_number;
  return typeof person["email"] === "string" && emailKey(person["email"]) === emailKey(identifier.email);
}
