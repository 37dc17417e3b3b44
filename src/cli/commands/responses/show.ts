import type { ApiReply, Client } from "../../../client/client.ts";
import { personIdOf } from "../../../client/write/look-up.ts";
import { PER_PAGE_MAX } from "../../../contract/limits.ts";
import { keepRows, type RowPage } from "../../../contract/row-page.ts";
import { type Deps, withClient } from "../../kit/deps.ts";
import { countOf } from "../../../contract/text/whole-number.ts";
import { writeNote } from "../../kit/notes.ts";
import { defineCommand } from "../../kit/define-command.ts";
import { pathColumn, type Resource } from "../../render/columns.ts";
import { isPage, writeList } from "../../render/list-output.ts";
import { writeRecord } from "../../render/record-output.ts";
import { RESPONSE_FIELDS, RESPONSES } from "../../render/resources.ts";
import { fetchResponse } from "./get.ts";

const HISTORY = pathColumn("history");

const SHOWN: Resource = {
  ...RESPONSES,
  columns: [...RESPONSES.columns, HISTORY],
  json: [[...RESPONSE_FIELDS, HISTORY]],
};

export const show = defineCommand({
  name: "show",
  summary: "show one response and the other responses of its person",
  examples: ["surveyctl responses show 42", "surveyctl responses show 42 --json"],
  args: { id: { form: "<id>", text: "the response's id" } },
  columns: SHOWN,
  async run(deps, { id }) {
    const { reply, history } = await withClient(deps, async (client) => {
      const found = await fetchResponse(client, id, ["person", "notes"], deps.signal);
      return { reply: found, history: await readHistory(deps, client, found) };
    });
    if (!isPage(deps)) {
      const text = `${reply.text.trim().replace(/\}$/, "")},"history":${history.text}}`;
      return writeRecord(deps, SHOWN, { json: { ...reply.json, history: [...history.rows] }, text });
    }
    await writeRecord(deps, RESPONSES, reply);
    if (history.rows.length === 0) return;
    const count = countOf(history.rows.length, "other response");
    await deps.streams.out.write(`\n${count} of this person, newest first:\n\n`);
    await writeList(deps, { resource: RESPONSES, wrap: true }, history);
  },
});

/** Reads only one page, because only a test account has more responses than that. */
async function readHistory(deps: Deps, client: Client, { json }: ApiReply): Promise<RowPage> {
  const person = personIdOf(json);
  if (person === "") return { rows: [], text: "[]" };
  const parameters = { person_id: person, order: "desc", per_page: PER_PAGE_MAX };
  for await (const page of client.listResponses(parameters, { signal: deps.signal })) {
    if (page.rows.length >= PER_PAGE_MAX) await writeNote(deps, `only the newest ${PER_PAGE_MAX} are shown`);
    return keepRows(page, (row) => row["id"] !== json["id"] && personIdOf(row) === person);
  }
  return { rows: [], text: "[]" };
}
