import type { Client, Page } from "../../client/client.ts";
import { emailKey } from "../../contract/email.ts";
import { PER_PAGE_MAX } from "../../contract/limits.ts";
import type { ImportRow } from "../../bulk/import/check/row-kind.ts";

/** Why a row's person is not to be written to; null when nothing speaks against it. */
export type SuppressionList = (row: ImportRow) => string | null;

/** Bounces and unsubscribes, read once, by e-mail. */
export async function readSuppressed(client: Client, signal: AbortSignal): Promise<SuppressionList> {
  const reasons = new Map<string, string>();
  const take = async (pages: AsyncGenerator<Page>, reason: string): Promise<void> => {
    for await (const { rows } of pages)
      for (const { email } of rows) if (typeof email === "string") reasons.set(emailKey(email), reason);
  };
  await take(client.listBounces({ per_page: PER_PAGE_MAX }, { signal }), "suppressed: the address bounced");
  await take(client.listUnsubscribes({ per_page: PER_PAGE_MAX }, { signal }), "suppressed: the person unsubscribed");
  return ({ values }) => {
    const { email } = values;
    return typeof email === "string" ? (reasons.get(emailKey(email)) ?? null) : null;
  };
}
