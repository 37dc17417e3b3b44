import { idText } from "../../../client/write/look-up.ts";
import type { JsonObject } from "../../../contract/json.ts";
import { PER_PAGE_MAX } from "../../../contract/limits.ts";
import type { PersonName } from "../../args/people.ts";
import { type Deps, withClient } from "../../kit/deps.ts";
import { createProgress } from "../../kit/progress.ts";
import { watchProperties } from "../../kit/rows/watch-properties.ts";
import type { TimeFilter } from "../../kit/time-flags.ts";
import { createPersonFilter, filterPages, type PersonFilters, WITH_PROPERTIES } from "./person-filters.ts";

export interface PeopleSelection {
  readonly range: TimeFilter;
  readonly filters: PersonFilters;
}

export function isSelecting({ range, filters }: PeopleSelection): boolean {
  return range.since !== null || range.until !== null || createPersonFilter(filters) !== null;
}

export async function selectPeople(deps: Deps, { range, filters }: PeopleSelection): Promise<readonly PersonName[]> {
  const more = filters.properties.length > 0 ? WITH_PROPERTIES : {};
  const filterPage = createPersonFilter(filters);
  const progress = createProgress(deps, "people");
  const found: PersonName[] = [];
  await withClient(watchProperties(deps, "people", { conditions: filters.properties }), async (client) => {
    const pages = client.listPeople({ ...range, per_page: PER_PAGE_MAX, ...more }, { signal: deps.signal });
    try {
      for await (const { rows } of filterPages(pages, filterPage)) {
        found.push(...rows.map(nameOf));
        await progress.update(found.length);
      }
    } finally {
      await progress.end();
    }
  });
  return found;
}

function nameOf({ id, email, phone_number: phone }: JsonObject): PersonName {
  if (typeof email === "string") return { email };
  return typeof phone === "string" ? { phone_number: phone } : { id: idText(id) };
}
