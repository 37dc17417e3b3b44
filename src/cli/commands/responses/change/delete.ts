import type { Client } from "../../../../client/client.ts";
import type { RefusedError } from "../../../../client/errors/call-errors.ts";
import { ROUTES } from "../../../../contract/routes.ts";
import { countOf } from "../../../../contract/text/whole-number.ts";
import { lacksEndpoint } from "../../../kit/refusals.ts";
import { confirmRemoval, YES_FLAG } from "../../../kit/removal.ts";
import { changeEach } from "../../../kit/rows/change-each.ts";
import { type PlannedRequest, settleChange } from "../../../kit/write-outcome.ts";
import { NothingFoundError } from "../../../errors/command-errors.ts";
import { defineCommand } from "../../../kit/define-command.ts";
import { changedColumns } from "./change.ts";
import { fetchResponse } from "../get.ts";

const COLUMNS = changedColumns();

export const remove = defineCommand({
  name: "delete",
  summary: "delete responses, but not the people who gave them",
  examples: ["surveyctl responses delete 42", "surveyctl responses delete 42 43 --yes"],
  args: { ids: { form: "<id...>", text: "ids of responses" } },
  flags: { yes: YES_FLAG },
  columns: COLUMNS,
  async run(deps, { ids: typed, yes }) {
    const ids = [...new Set(typed)];
    const { signal } = deps;
    const what = ids.length === 1 ? `response ${ids[0]}` : countOf(ids.length, "response");
    await changeEach(deps, {
      items: ids,
      resource: COLUMNS,
      named: (id) => ({ id }),
      nameOf: (id) => `response ${id}`,
      plan: async (_client, id) => requestFor(id),
      confirm: (client) =>
        confirmRemoval(deps, { command: "responses delete", yes, kept: "Nothing was deleted." }, async () => {
          for (const id of ids) await fetchResponse(client, id, null, signal);
          return `Delete ${what} at ${client.baseUrl}?`;
        }),
      async work(client, id) {
        await settleChange(client.change({ ...requestFor(id), signal }), {
          again: `look with "surveyctl responses get ${id}"; the same again is safe`,
          explain: (error) => explain(client, id, error, signal),
        });
        return { outcome: "deleted" };
      },
      summary: (changed) => `Deleted ${countOf(changed, "response")}.`,
    });
  },
});

function requestFor(id: string): PlannedRequest {
  return { route: ROUTES.deleteResponse, placeholders: { id } };
}

const LACKING = "this service cannot delete responses";

/** A 404 means that the response or the endpoint is missing, so the response is looked up. */
async function explain(client: Client, id: string, error: RefusedError, signal: AbortSignal): Promise<Error> {
  if (lacksEndpoint(error)) return new NothingFoundError(LACKING);
  if (error.status !== 404) return error;
  const isThere = await client.getResponse(id, {}, { signal }).then(
    () => true,
    () => false,
  );
  return new NothingFoundError(isThere ? LACKING : `no response with id ${id}, or ${LACKING}`);
}
