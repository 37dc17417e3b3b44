import { parseEmail, parsePhone } from "../../args/people.ts";
import { LIMITS, listRows } from "../../kit/rows/list-rows.ts";
import { watchProperties } from "../../kit/rows/watch-properties.ts";
import { timeRange } from "../../kit/time-flags.ts";
import { defineCommand } from "../../kit/define-command.ts";
import { PEOPLE } from "../../render/resources.ts";
import { createPersonFilter, filterPages, needsProperties, PERSON_FILTERS, WITH_PROPERTIES } from "./person-filters.ts";

export const list = defineCommand({
  name: "list",
  summary: "list people, oldest first",
  examples: [
    "surveyctl people list --since 7d",
    "surveyctl people list --unanswered --not-surveyed-since 30d --all --columns email",
    "surveyctl people list --domain example.com --property plan=pro --count",
  ],
  flags: {
    range: timeRange("created"),
    email: { value: "email", text: "only the person with this address", parse: parseEmail, conflicts: ["--phone"] },
    phone: { value: "phone", text: "only the person with this number (E.164)", parse: parsePhone },
    filters: PERSON_FILTERS,
    limits: LIMITS,
  },
  columns: PEOPLE,
  run: (deps, { range, email, phone, filters, limits }) => {
    const filterPage = createPersonFilter(filters);
    const more = needsProperties(deps, filters, deps.options.output) ? WITH_PROPERTIES : {};
    return listRows(watchProperties(deps, "people", { conditions: filters.properties }), {
      resource: PEOPLE,
      limits,
      parameters: { ...range, email, phone_number: phone, ...more },
      pages: (client, parameters, options) => filterPages(client.listPeople(parameters, options), filterPage),
      isNarrowed: filterPage !== null,
    });
  },
});
