import type { Deps } from "../../../kit/deps.ts";
import type { Resource } from "../../../render/columns.ts";
import { isPage } from "../../../render/list-output.ts";
import { showList, showRecord } from "./data-file.ts";

export interface RecordList {
  readonly name: string;
  readonly resource: Resource;
  readonly rows: readonly object[];
}

/** Prints the lists as tables below the record if the output is for people to read. Omits empty lists. */
export async function showWithLists(
  deps: Deps,
  resource: Resource,
  value: object,
  lists: readonly RecordList[],
): Promise<void> {
  if (!isPage(deps)) return showRecord(deps, resource, value);
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
