/** Faults in who is known and who may be written to. */
import type { deletePerson } from "../../../src/service/domain/people/people.ts";
import type { canReceive, recordBounce, stopTexts } from "../../../src/service/domain/people/suppressions.ts";
import type { createPersonRows } from "../../../src/service/store/sql/rows/people/person-rows.ts";
import type { createSuppressionRows } from "../../../src/service/store/sql/rows/people/suppression-rows.ts";
import { fault } from "./plant.ts";

const SUPPRESSIONS = "service/domain/people/suppressions.ts";

export const PEOPLE_FAULTS = [
  fault<typeof canReceive>(
    "whether somebody may be written to is read only once",
    [SUPPRESSIONS, "canReceive"],
    (original) => {
      const known = new Map<string, boolean>();
      return async (tx, project, person, channel) => {
        const key = `${project.id} ${person.id} ${channel}`;
        const may = known.get(key) ?? (await original(tx, project, person, channel));
        known.set(key, may);
        return may;
      };
    },
  ),
  fault<typeof stopTexts>("STOP is not kept", [SUPPRESSIONS, "stopTexts"], () => async () => true),
  fault<typeof recordBounce>("a bounce is not recorded", [SUPPRESSIONS, "recordBounce"], () => async () => undefined),
  fault<typeof createSuppressionRows>(
    "who left is forgotten with the person",
    ["service/store/sql/rows/people/suppression-rows.ts", "createSuppressionRows"],
    (original) => (database, secrets) => {
      const rows = original(database, secrets);
      return {
        ...rows,
        add: async (project, channel, address, reason) => {
          if (channel === "sms") await rows.add(project, channel, address, reason);
        },
      };
    },
  ),
  fault<typeof deletePerson>(
    "a deleted person stays",
    ["service/domain/people/people.ts", "deletePerson"],
    () => async () => true,
  ),
  fault<typeof createPersonRows>(
    "a list has the people of another project",
    ["service/store/sql/rows/people/person-rows.ts", "createPersonRows"],
    (original) => (database, changes) => {
      const rows = original(database, changes);
      return { ...rows, list: (_, filter) => rows.list(1, filter) };
    },
  ),
];
