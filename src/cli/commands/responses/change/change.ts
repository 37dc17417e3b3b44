import type { Client } from "../../../../client/client.ts";
import { mayHaveArrived, UnknownOutcomeError } from "../../../../client/errors/call-errors.ts";
import type { JsonObject } from "../../../../contract/json.ts";
import { ROUTES } from "../../../../contract/routes.ts";
import type { Deps } from "../../../kit/deps.ts";
import { unsupported, withRefusals } from "../../../kit/refusals.ts";
import { changeEach, type Each } from "../../../kit/rows/change-each.ts";
import { InterruptedError, NothingFoundError } from "../../../errors/command-errors.ts";
import { pathColumn, type Resource } from "../../../render/columns.ts";
import { fetchResponse } from "../get.ts";

export function changedColumns(...shown: readonly string[]): Resource {
  const columns = ["id", "outcome", ...shown, "error"].map((name) => pathColumn(name));
  return { noun: "responses", columns, flexible: "error" };
}

export interface Change {
  readonly plan: (row: JsonObject) => JsonObject | null;
  readonly isRepeatable: boolean;
  readonly isTaken: (after: JsonObject, body: JsonObject, before: JsonObject) => boolean;
  readonly show: (row: JsonObject) => JsonObject;
}

type Bulk = Pick<Each<string>, "confirm" | "oneByOne" | "summary">;

export function changeResponses(
  deps: Deps,
  ids: readonly string[],
  resource: Resource,
  change: Change,
  bulk: Bulk = {},
): Promise<void> {
  return changeEach(deps, {
    ...bulk,
    items: ids,
    resource,
    named: (id) => ({ id }),
    nameOf: (id) => `response ${id}`,
    async plan(client, id) {
      const body = change.plan(await read(deps, client, id));
      return body === null ? null : { route: ROUTES.updateResponse, placeholders: { id }, body };
    },
    work: (client, id) => changeOne(deps, client, id, change),
  });
}

async function changeOne(deps: Deps, client: Client, id: string, change: Change): Promise<JsonObject> {
  const before = await read(deps, client, id);
  const body = change.plan(before);
  if (body === null) return { outcome: "unchanged", ...change.show(before) };
  const route = { ...ROUTES.updateResponse, idempotent: change.isRepeatable };
  const sent = client.call({ route, placeholders: { id }, body, signal: deps.signal });
  const look = `look with "surveyctl responses show ${id}"`;
  const advice = change.isRepeatable ? `${look}; the same again is safe` : `${look} before trying again`;
  const rethrow = (error: unknown): never => {
    throw error instanceof InterruptedError
      ? new InterruptedError(error.signal, `the request may have been processed: ${advice}`)
      : error;
  };
  // If the API's reply was lost, reading the response below shows whether the change was made.
  const lost = await withRefusals(sent, updateRefusals(id)).then(
    () => null,
    (error: unknown) => {
      if (error instanceof InterruptedError || !mayHaveArrived(error)) return rethrow(error);
      return error;
    },
  );
  const after = await read(deps, client, id).catch(rethrow);
  if (change.isTaken(after, body, before)) return { outcome: "changed", ...change.show(after) };
  if (lost !== null) throw change.isRepeatable ? lost : new UnknownOutcomeError(lost, "a check found no trace of it");
  throw new NothingFoundError(
    `the service did not take the change of response ${id}`,
    "it may not support such changes",
  );
}

async function read(deps: Deps, client: Client, id: string): Promise<JsonObject> {
  return (await fetchResponse(client, id, ["notes"], deps.signal)).json;
}

function updateRefusals(id: string): ReturnType<typeof unsupported> {
  const hint = "surveyctl responses get ID shows them";
  return unsupported(
    { words: "this service cannot change responses", hint },
    { words: `no response with id ${id}, or the service cannot change responses`, hint },
  );
}
