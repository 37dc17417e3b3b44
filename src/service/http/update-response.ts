import type { JsonObject } from "../../contract/json.ts";
import type { SurveyResponse } from "../../contract/resources.ts";
import type { Project } from "../domain/inputs.ts";
import type { Store } from "../domain/ports.ts";
import { type Links, updateResponse } from "../domain/responses.ts";
import { readExpansions } from "./list-inputs.ts";
import { Reader } from "./reader.ts";
import { readResponseChange, withPersonId } from "./write-inputs.ts";

interface Change {
  readonly store: Store;
  readonly project: Project;
  readonly parameters: JsonObject;
  readonly links: Links;
}

/** The same call whether the id came in the path or, as one client library has it, in the body. */
export async function changeNamedResponse(
  { store, project, parameters, links }: Change,
  id: string,
): Promise<SurveyResponse> {
  const reader = new Reader(withPersonId(parameters));
  const change = readResponseChange(reader);
  const expand = readExpansions(reader);
  return store.write((tx) => updateResponse(tx, project, id, change, expand, links));
}
