import { ROUTES } from "../../../contract/routes.ts";
import { UNSUBSCRIBES } from "../../render/resources.ts";
import type { RangeExport } from "../../export/range.ts";
import { CREATED, pageList } from "../../export/sources.ts";

export const UNSUBSCRIBES_EXPORT: RangeExport = {
  command: "unsubscribes export",
  summary: "write every unsubscribed person to a file or standard output",
  examples: [
    "surveyctl unsubscribes export --out unsubscribes.csv",
    "surveyctl unsubscribes export --state unsubscribes.state --append --out unsubscribes.csv",
  ],
  what: "unsubscribed",
  resource: UNSUBSCRIBES,
  idField: "person_id",
  timeField: "unsubscribed_at",
  list: (client, perPage) =>
    pageList(client, { route: ROUTES.listUnsubscribes, parameters: { per_page: perPage } }, CREATED),
};
