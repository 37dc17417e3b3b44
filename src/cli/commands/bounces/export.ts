import { ROUTES } from "../../../contract/routes.ts";
import { BOUNCES } from "../../render/resources.ts";
import type { RangeExport } from "../../export/range.ts";
import { CREATED, pageList } from "../../export/sources.ts";

export const BOUNCES_EXPORT: RangeExport = {
  command: "bounces export",
  summary: "write every bounced person to a file or standard output",
  examples: [
    "surveyctl bounces export --out bounces.csv",
    "surveyctl bounces export --state bounces.state --append --out bounces.csv",
  ],
  what: "bounced",
  resource: BOUNCES,
  idField: "person_id",
  timeField: "bounced_at",
  list: (client, perPage) =>
    pageList(client, { route: ROUTES.listBounces, parameters: { per_page: perPage } }, CREATED),
};
