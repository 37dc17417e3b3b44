/** Results of the `service` commands on stdout, in every format that other commands have. */
import type { Json, JsonObject } from "../../../contract/json.ts";
import type { Deps } from "../../command/deps.ts";
import type { Resource } from "../../render/columns.ts";
import { openListOutput } from "../../render/list-output.ts";
import { writeRecord } from "../../render/record-output.ts";

export async function showRecord(deps: Deps, resource: Resource, value: object): Promise<void> {
  const text = JSON.stringify(value);
  await writeRecord(deps, resource, { json: JSON.parse(text) as JsonObject, text });
}

export async function showList(deps: Deps, resource: Resource, values: readonly object[]): Promise<void> {
  const text = JSON.stringify(values);
  const output = await openListOutput(deps, { resource });
  await output.write({ rows: JSON.parse(text) as Json as JsonObject[], text });
  await output.end();
}
