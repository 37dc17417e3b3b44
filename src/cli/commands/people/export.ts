import { ROUTES } from "../../../contract/routes.ts";
import { PEOPLE } from "../../render/resources.ts";
import type { RangeExport } from "../../export/range.ts";
import { CREATED, cursorList } from "../../export/sources.ts";

export const PEOPLE_EXPORT: RangeExport = {
  command: "people export",
  summary: "write everyone to a file or standard output",
  examples: [
    "surveyctl people export --out people.csv",
    "surveyctl people export --state people.state --append --out people.csv",
  ],
  what: "created",
  resource: PEOPLE,
  idField: "id",
  timeField: "created_at",
  list: (client, perPage) =>
    cursorList(client, { route: ROUTES.listPeople, parameters: { per_page: perPage } }, CREATED),
};
