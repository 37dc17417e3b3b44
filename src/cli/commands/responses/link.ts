import { ROUTES } from "../../../contract/routes.ts";
import { defineCommand } from "../../kit/define-command.ts";
import { withClient } from "../../kit/deps.ts";
import { unsupported, withRefusals } from "../../kit/refusals.ts";
import { toResource } from "../../render/columns.ts";
import { writeRecord } from "../../render/record-output.ts";

const LINK = toResource("links", { url: "text" });

export const link = defineCommand({
  name: "link",
  summary: "print a link to a response that works without a key for 30 days",
  examples: ["surveyctl responses link 42", "surveyctl responses link 42 --columns url"],
  args: { id: { form: "<id>", text: "the response's id" } },
  columns: LINK,
  async run(deps, { id }) {
    const refusals = unsupported(
      { words: "this service signs no links", hint: "surveyctl responses show ID shows the response" },
      {
        words: `no response with id ${id}, or the service signs no links`,
        hint: "surveyctl responses list shows the ids",
      },
    );
    const { signal } = deps;
    const reply = await withClient(deps, (client) =>
      withRefusals(client.call({ route: ROUTES.signResponse, placeholders: { id }, signal }), refusals),
    );
    await writeRecord(deps, LINK, reply);
  },
});
