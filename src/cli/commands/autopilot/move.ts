import { PLATFORMS } from "../../../contract/resources.ts";
import { ROUTES } from "../../../contract/routes.ts";
import type { PersonName } from "../../args/people.ts";
import { EXIT } from "../../exit-codes.ts";
import { defineCommand } from "../../kit/define-command.ts";
import { CHANGED_PEOPLE, PEOPLE_ARG, PEOPLE_FROM_FLAG, readPeople, runPeopleChange } from "../people/change-people.ts";

export const move = defineCommand({
  name: "move",
  summary: "move members to the other platform and keep the date of their next survey",
  args: { people: PEOPLE_ARG },
  examples: [
    "surveyctl autopilot move --to sms +14155550101",
    "surveyctl autopilot move --to sms --from prefers-texts.csv --dry-run",
  ],
  exits: [EXIT.done, EXIT.failed, EXIT.partial, EXIT.auth, EXIT.refused],
  flags: {
    to: { value: "platform", text: "the new platform", choices: PLATFORMS, required: true },
    from: PEOPLE_FROM_FLAG,
  },
  columns: CHANGED_PEOPLE,
  run: async (deps, { to: platform, ...chosen }) => {
    const change = {
      name: "move",
      outcome: "moved",
      mayStay: true,
      lacking: "this service cannot move members",
      plan: async (_: unknown, person: PersonName) => ({
        route: ROUTES.moveMember,
        placeholders: { platform },
        body: Object.fromEntries(Object.entries(person).map(([name, value]) => [`person_${name}`, value])),
      }),
    };
    await runPeopleChange(deps, change, await readPeople(deps, "autopilot move", chosen), true);
  },
});
