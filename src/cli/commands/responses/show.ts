import type { Command } from "commander";
import type { ApiReply, Client } from "../../../client/client.ts";
import { isJsonObject, type Json, type JsonObject } from "../../../contract/json.ts";
import { PER_PAGE_MAX } from "../../../contract/limits.ts";
import { splitRowTexts } from "../../../contract/row-texts.ts";
import type { CommandContext } from "../../command/command-context.ts";
import { type Deps, withClient } from "../../command/deps.ts";
import { countOf, writeNote } from "../../command/notes.ts";
import { withRefusals } from "../../command/refusals.ts";
import { EXIT, type ExitCode } from "../../exit-codes.ts";
import type { Column, Resource } from "../../render/columns.ts";
import { chooseFormat, openListOutput } from "../../render/list-output.ts";
import { checkColumns, writeRecord } from "../../render/record-output.ts";
import { RESPONSE_FIELDS, RESPONSES } from "../../render/resources.ts";
import { getRefusals } from "./get.ts";

const HISTORY: Column = { name: "history", kind: "text", read: (row) => row["history"] };

const SHOWN: Resource = {
  ...RESPONSES,
  columns: [...RESPONSES.columns, HISTORY],
  json: [[...RESPONSE_FIELDS, HISTORY]],
};

export function registerResponsesShow(noun: Command, context: CommandContext): void {
  const command = context.verb(noun, {
    name: "show",
    summary: "show one response and the other responses of its person",
    operands: [["<id>", "the response's id"]],
    examples: ["surveyctl responses show 42", "surveyctl responses show 42 --json"],
    exits: [EXIT.done, EXIT.failed, EXIT.auth, EXIT.refused],
    columns: SHOWN,
  });
  context.action(command, (deps, _flags, [id = ""]) => runResponsesShow(deps, { id }));
}

async function runResponsesShow(deps: Deps, { id }: { readonly id: string }): Promise<ExitCode> {
  checkColumns(deps, SHOWN);
  const { reply, history } = await withClient(deps, async (client) => {
    const call = client.getResponse(id, { expand: ["person", "notes"] }, { signal: deps.signal });
    const found = await withRefusals(call, getRefusals(id));
    return { reply: found, history: await readHistory(deps, client, found) };
  });
  const format = chooseFormat(deps);
  if (deps.options.columns === null && (format === "table" || format === "record")) {
    await writeRecord(deps, RESPONSES, reply);
    if (history.rows.length === 0) return EXIT.done;
    const count = countOf(history.rows.length, "other response", "other responses");
    await deps.streams.out.write(`\n${count} of this person, newest first:\n\n`);
    const output = await openListOutput(deps, { resource: RESPONSES, wrap: true });
    await output.write(history);
    await output.end();
    return EXIT.done;
  }
  const text = `${reply.text.trim().replace(/\}$/, "")},"history":${history.text}}`;
  await writeRecord(deps, SHOWN, { json: { ...reply.json, history: [...history.rows] }, text });
  return EXIT.done;
}

interface History {
  readonly rows: readonly JsonObject[];
  readonly text: string;
}

/** One page: a person with more responses than that is a test account. */
async function readHistory(deps: Deps, client: Client, { json }: ApiReply): Promise<History> {
  const person = personId(json["person"]);
  if (person === null) return { rows: [], text: "[]" };
  const parameters = { person_id: person, order: "desc", per_page: PER_PAGE_MAX };
  for await (const page of client.listResponses(parameters, { signal: deps.signal })) {
    if (page.rows.length >= PER_PAGE_MAX) await writeNote(deps, `only the newest ${PER_PAGE_MAX} are shown`);
    const isOther = page.rows.map((row) => row["id"] !== json["id"] && personId(row["person"]) === person);
    const texts = splitRowTexts(page.text).filter((_, index) => isOther[index]);
    return { rows: page.rows.filter((_, index) => isOther[index]), text: `[${texts.join(",")}]` };
  }
  return { rows: [], text: "[]" };
}

function personId(person: Json | undefined): string | null {
  const id = isJsonObject(person) ? person["id"] : person;
  return typeof id === "string" || typeof id === "number" ? String(id) : null;
}
