/** Records that hold lists: for people each list is a table of its own below, for scripts it is a value like others. */
import type { Deps } from "../../../kit/deps.ts";
import type { Resource } from "../../../render/columns.ts";
import { chooseFormat } from "../../../render/list-output.ts";
import { showList, showRecord } from "./data-file.ts";

export interface RecordList {
  /** The name of the list in the record. */
  readonly name: string;
  readonly resource: Resource;
  readonly rows: readonly object[];
}

/** On a terminal and with `-o record`, unless columns were chosen. A list without rows is left out. */
export async function showWithLists(
  deps: Deps,
  resource: Resource,
  value: object,
  lists: readonly RecordList[],
): Promise<void> {
  const format = chooseFormat(deps);
  if ((format !== "table" && format !== "record") || deps.options.columns !== null)
    return showRecord(deps, resource, value);
  const names = new Set(lists.map(({ name }) => name));
  const columns = resource.columns.filter(({ name }) => !names.has(name));
  const rest = Object.fromEntries(Object.entries(value).filter(([name]) => !names.has(name)));
  await showRecord(deps, { ...resource, columns }, rest);
  const asTable: Deps = { ...deps, options: { ...deps.options, output: "table" } };
  for (const list of lists) {
    if (list.rows.length === 0) continue;
    await deps.streams.out.write("\n");
    await showList(asTable, list.resource, list.rows, { wrap: true });
  }
}
