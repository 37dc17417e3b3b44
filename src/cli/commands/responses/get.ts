import type { ApiReply, Client } from "../../../client/client.ts";
import type { Expansion } from "../../../contract/routes.ts";
import { withClient } from "../../kit/deps.ts";
import { unsupported, withRefusals } from "../../kit/refusals.ts";
import { defineCommand } from "../../kit/define-command.ts";
import { writeRecord } from "../../render/record-output.ts";
import { RESPONSES } from "../../render/resources.ts";
import { EXPAND, neededExpansions } from "./selection.ts";

export const get = defineCommand({
  name: "get",
  summary: "show one response",
  examples: ["surveyctl responses get 42 -o record", "surveyctl responses get 42 --json"],
  args: { id: { form: "<id>", text: "the response's id" } },
  flags: { expand: EXPAND },
  columns: RESPONSES,
  async run(deps, { id, expand }) {
    const embedded = expand ?? neededExpansions(deps);
    const reply = await withClient(deps, (client) => fetchResponse(client, id, embedded, deps.signal));
    await writeRecord(deps, RESPONSES, reply);
  },
});

/** The endpoint isn't in the specification, so a service may lack it. */
export function fetchResponse(
  client: Client,
  id: string,
  expand: readonly Expansion[] | null,
  signal: AbortSignal,
): Promise<ApiReply> {
  const call = client.getResponse(id, { expand: expand === null ? null : [...expand] }, { signal });
  const lacking = {
    words: "this service cannot look up a response by id",
    hint: "surveyctl responses list shows them",
  };
  const missing = {
    words: `no response with id ${id}, or the service cannot look up responses by id`,
    hint: "surveyctl responses list shows the ids",
  };
  return withRefusals(call, unsupported(lacking, missing));
}
