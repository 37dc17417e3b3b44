/** Links from the comments of a report to their pages. */
import type { Client } from "../../../client/client.ts";
import { ROUTES } from "../../../contract/routes.ts";
import type { ReportComment, ReportFacts } from "../../../insight/report/facts.ts";
import { endTogether, inParallel } from "../../../runtime/parallel.ts";
import { CONCURRENCY_DEFAULT } from "../../args/global-options.ts";
import { type Deps, withClient } from "../../command/deps.ts";
import { type Refusal, withRefusals } from "../../command/refusals.ts";

const NO_LINKS: Refusal = { status: 404, words: "this service signs no links", hint: "leave --links out" };

/** With the link that the service signs for each comment. Throws RefusedError where it signs none. */
export async function linkComments(deps: Deps, facts: ReportFacts): Promise<ReportFacts> {
  const urls = await withClient(deps, (client) =>
    endTogether(deps.signal, (signal) =>
      inParallel(facts.comments, deps.options.concurrency ?? CONCURRENCY_DEFAULT, (comment) =>
        withRefusals(signedUrl(client, comment, signal), [NO_LINKS]),
      ),
    ),
  );
  return { ...facts, comments: facts.comments.map((comment, index) => ({ ...comment, url: urls[index] ?? null })) };
}

/** Null where it is not the address of a page. */
async function signedUrl(client: Client, { id }: ReportComment, signal: AbortSignal): Promise<string | null> {
  const { json } = await client.call({ route: ROUTES.signResponse, placeholders: { id }, signal });
  const { url } = json;
  return typeof url === "string" && /^https?:\/\//.test(url) ? url : null;
}
