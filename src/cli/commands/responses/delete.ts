import type { Command } from "commander";
import type { Client } from "../../../client/client.ts";
import type { RefusedError } from "../../../client/errors/call-errors.ts";
import { ROUTES } from "../../../contract/routes.ts";
import type { CommandContext } from "../../command/command-context.ts";
import { type Deps, withClient } from "../../command/deps.ts";
import { changeEach } from "../../command/rows/change-each.ts";
import { countOf } from "../../command/notes.ts";
import { confirmRemoval, YES_FLAG } from "../../command/removal.ts";
import { withRefusals } from "../../command/refusals.ts";
import { settleChange, writeDryRun } from "../../command/write-outcome.ts";
import { NothingFoundError } from "../../errors/command-errors.ts";
import { EXIT, type ExitCode } from "../../exit-codes.ts";
import { checkColumns } from "../../render/record-output.ts";
import { CHANGE_EXITS, changedColumns } from "./change.ts";
import { getRefusals } from "./get.ts";

const COLUMNS = changedColumns();

export function registerResponsesDelete(noun: Command, context: CommandContext): void {
  const command = context.verb(noun, {
    name: "delete",
    summary: "delete responses; their people stay",
    operands: [["<id...>", "ids of responses"]],
    examples: ["surveyctl responses delete 42", "surveyctl responses delete 42 43 --yes"],
    exits: CHANGE_EXITS,
    flags: [YES_FLAG],
    columns: COLUMNS,
  });
  context.action(command, (deps, flags, ids) =>
    runResponsesDelete(deps, { ids: [...new Set(ids)], yes: flags.is("--yes") }),
  );
}

interface ResponsesDeleteOptions {
  readonly ids: readonly string[];
  readonly yes: boolean;
}

async function runResponsesDelete(deps: Deps, { ids, yes }: ResponsesDeleteOptions): Promise<ExitCode> {
  checkColumns(deps, COLUMNS);
  return withClient(deps, async (client, connection) => {
    if (deps.options.dryRun) {
      for (const id of ids)
        await writeDryRun(deps, client.baseUrl, { route: ROUTES.deleteResponse, placeholders: { id } });
      return EXIT.done;
    }
    client.checkMayWrite();
    const what = ids.length === 1 ? `response ${ids[0]}` : countOf(ids.length, "response", "responses");
    await confirmRemoval(deps, { command: "responses delete", yes, kept: "Nothing was deleted." }, async () => {
      for (const id of ids) await withRefusals(client.getResponse(id, {}, { signal: deps.signal }), getRefusals(id));
      return `Delete ${what} at ${client.baseUrl}?`;
    });
    await changeEach(deps, {
      connection,
      items: ids,
      resource: COLUMNS,
      named: (id) => ({ id }),
      nameOf: (id) => `response ${id}`,
      work: async (id) => {
        await deleteOne(deps, client, id);
        return { outcome: "deleted" };
      },
      summary: (changed) => `Deleted ${countOf(changed, "response", "responses")}.`,
    });
    return EXIT.done;
  });
}

async function deleteOne(deps: Deps, client: Client, id: string): Promise<void> {
  const { signal } = deps;
  const again = `look with "surveyctl responses get ${id}"; the same again is safe`;
  await settleChange(client.change({ route: ROUTES.deleteResponse, placeholders: { id }, signal }), {
    again,
    explain: (error) => explain(client, id, error, signal),
  });
}

const LACKING = "this service cannot delete responses";

/**
 * A 404 means that there is no such response, or no such endpoint: the response itself tells, where it can be asked
 * for.
 */
async function explain(client: Client, id: string, error: RefusedError, signal: AbortSignal): Promise<Error> {
  if (error.status === 405 || error.status === 410) return new NothingFoundError(LACKING);
  if (error.status !== 404) return error;
  const isThere = await client.getResponse(id, {}, { signal }).then(
    () => true,
    () => false,
  );
  return new NothingFoundError(isThere ? LACKING : `no response with id ${id}, or ${LACKING}`);
}
