/** Faults in people and suppressions. */
import type { OperationLogRows } from "../../../src/service/domain/operation-log/operation-log-rows.ts";
import type { deletePerson } from "../../../src/service/domain/people/people.ts";
import type { canReceive, recordBounce, stopTexts } from "../../../src/service/domain/people/suppressions.ts";
import type { PersonRows } from "../../../src/service/domain/people/person-rows.ts";
import type { SuppressionRows } from "../../../src/service/domain/people/suppression-rows.ts";
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
  fault<typeof SuppressionRows>(
    "who left is forgotten with the person",
    ["service/domain/people/suppression-rows.ts", "SuppressionRows"],
    (Original) =>
      class extends Original {
        override async add(...[project, channel, ...rest]: Parameters<SuppressionRows["add"]>): Promise<void> {
          if (channel === "sms") await super.add(project, channel, ...rest);
        }
      },
  ),
  fault<typeof OperationLogRows>(
    "what is done to a person leaves no line",
    ["service/domain/operation-log/operation-log-rows.ts", "OperationLogRows"],
    (Original) =>
      class extends Original {
        override add(...[projects, actor, deeds, ...rest]: Parameters<OperationLogRows["add"]>): void {
          const others = deeds.filter(({ operation }) => !/^(?:erase|people[.].*)$/.test(operation));
          super.add(projects, actor, others, ...rest);
        }
      },
  ),
  fault<typeof deletePerson>(
    "a deleted person stays",
    ["service/domain/people/people.ts", "deletePerson"],
    () => async () => true,
  ),
  fault<typeof PersonRows>(
    "a list has the people of another project",
    ["service/domain/people/person-rows.ts", "PersonRows"],
    (Original) =>
      class extends Original {
        override async list(...[, filter]: Parameters<PersonRows["list"]>): ReturnType<PersonRows["list"]> {
          return super.list(1, filter);
        }
      },
  ),
];
