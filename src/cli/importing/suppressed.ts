import type { Client } from "../../client/client.ts";
import { isNamed, spellingsOf, type Identifier } from "../../client/write/evidence.ts";
import { idText } from "../../client/write/look-up.ts";
import { decideRows, type RowSource } from "../../bulk/import/journal/decide-rows.ts";
import { emailKey } from "../../contract/text/email.ts";
import type { Json } from "../../contract/json.ts";
import { PER_PAGE_MAX } from "../../contract/limits.ts";
import { ROUTES } from "../../contract/routes.ts";
import { abortTogether, inParallel } from "../../runtime/parallel.ts";
import { CommandError } from "../errors/usage-error.ts";
import { EXIT } from "../exit-codes.ts";

export interface SuppressionOptions {
  readonly client: Client;
  readonly source: RowSource;
  readonly concurrency: number;
  readonly signal: AbortSignal;
}

interface Suppressions {
  /** The keys are `emailKey` values, and ids with a leading `#`. */
  readonly reasons: ReadonlyMap<string, string>;
  readonly hasUnaddressed: boolean;
}

/**
 * Looks up rows that have a phone number, or all rows if a list has people without an address. Throws CommandError if
 * the service's list of people ignores the filter.
 */
export async function readSuppressed(options: SuppressionOptions): Promise<RowSource["skip"]> {
  const { client, source, concurrency, signal } = options;
  const suppressions = await readLists(options);
  const found = new Map<number, string>();
  if (suppressions.reasons.size > 0)
    await abortTogether(signal, (own) =>
      inParallel(rowsToLookUp(source, suppressions, found), concurrency, async ([line, identifier]) => {
        const reason = await lookUp(client, identifier, suppressions, own);
        if (reason !== null) found.set(line, reason);
      }),
    );
  return (line) => found.get(line) ?? null;
}

async function readLists({ client, signal }: SuppressionOptions): Promise<Suppressions> {
  const reasons = new Map<string, string>();
  let hasUnaddressed = false;
  const lists = [
    [client.listBounces({ per_page: PER_PAGE_MAX }, { signal }), "suppressed: the address bounced"],
    [client.listUnsubscribes({ per_page: PER_PAGE_MAX }, { signal }), "suppressed: the person unsubscribed"],
  ] as const;
  for (const [pages, reason] of lists)
    for await (const { rows } of pages)
      for (const { email, person_id: id } of rows) {
        if (typeof email === "string" && email !== "") reasons.set(emailKey(email), reason);
        else hasUnaddressed = true;
        if (idText(id) !== "") reasons.set(`#${idText(id)}`, reason);
      }
  return { reasons, hasUnaddressed };
}

function reasonFor(email: Json | undefined, { reasons }: Suppressions): string | null {
  return typeof email === "string" ? (reasons.get(emailKey(email)) ?? null) : null;
}

async function* rowsToLookUp(
  source: RowSource,
  suppressions: Suppressions,
  found: Map<number, string>,
): AsyncGenerator<readonly [line: number, identifier: Identifier]> {
  for await (const decision of decideRows(source)) {
    if (decision.kind !== "send") continue;
    const { line, values } = decision.row;
    const { email, phone_number: phone } = values;
    const reason = reasonFor(email, suppressions);
    if (reason !== null) {
      found.set(line, reason);
      continue;
    }
    if (typeof phone === "string") yield [line, { phone_number: phone }];
    if (typeof email === "string" && suppressions.hasUnaddressed)
      for (const identifier of spellingsOf({ email })) yield [line, identifier];
  }
}

async function lookUp(
  client: Client,
  identifier: Identifier,
  suppressions: Suppressions,
  signal: AbortSignal,
): Promise<string | null> {
  const { rows } = await client.page({ route: ROUTES.listPeople, parameters: { ...identifier }, signal });
  if (!rows.every((row) => isNamed(row, identifier))) {
    const [named, by] = "email" in identifier ? [identifier.email, "email"] : [identifier.phone_number, "phone number"];
    throw new CommandError(
      "suppression_unknown",
      `cannot check whether ${named} is suppressed: the service's list of people has no filter for ${by}`,
      EXIT.failed,
      { hint: "nothing was sent; leave such rows out, or import without --skip-suppressed" },
    );
  }
  const reasons = rows.map(
    ({ id, email }) => suppressions.reasons.get(`#${idText(id)}`) ?? reasonFor(email, suppressions),
  );
  return reasons.find((reason) => reason !== null) ?? null;
}
