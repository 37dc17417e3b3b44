import type { Client } from "../../../client/client.ts";
import { RefusedError } from "../../../client/errors/call-errors.ts";
import { CHANNELS, ROUTES } from "../../../contract/routes.ts";
import type { PersonName } from "../../args/people.ts";
import { parseFutureTime } from "../../args/time.ts";
import { NothingFoundError } from "../../errors/command-errors.ts";
import { defineCommand } from "../../kit/define-command.ts";
import { withClient } from "../../kit/deps.ts";
import { complaintsAbout } from "../../kit/refusals.ts";
import { timeContext } from "../../kit/time-flags.ts";
import { showOutcome, toBody, writeDryRun } from "../../kit/write-outcome.ts";
import { toResource } from "../../render/columns.ts";
import { personText } from "../shared/find-person.ts";
import { PERSON_OR_ID_ARG } from "./get.ts";
import { explainRefusal, toPathName } from "./change-people.ts";

const RESCHEDULED = toResource("surveys", { id: "id", channel: "text", autopilot: "flag", scheduled_at: "time" });

export const reschedule = defineCommand({
  name: "reschedule",
  summary: "change when a person's waiting survey is sent",
  args: { person: PERSON_OR_ID_ARG },
  examples: [
    "surveyctl people reschedule ada@example.com --to 'monday 9:00'",
    "surveyctl people reschedule +14155550101 --channel sms --to +5d",
  ],
  flags: {
    to: {
      value: "time",
      text: "the new time, such as +5d, 2026-12-01T09:00 or 'tomorrow 9:00'; Autopilot's surveys also wait for its days and hours",
      required: true,
      parse: (text, place, deps) => parseFutureTime(text, place, timeContext(deps)),
    },
    channel: { value: "channel", text: "which survey, if several wait", choices: CHANNELS },
    survey: { value: "id", text: "which survey, if several wait on a channel" },
  },
  columns: RESCHEDULED,
  run: async (deps, { person, to, channel, survey }) => {
    const request = {
      route: ROUTES.rescheduleSurvey,
      placeholders: { email: "email" in person ? person.email : toPathName(person) },
      body: toBody({ scheduled_at: to, channel, survey }),
    };
    await withClient(deps, async (client) => {
      if (deps.options.dryRun) return writeDryRun(deps, client.baseUrl, request);
      const write = client.change({ ...request, signal: deps.signal }).catch(async (error: unknown) => {
        throw error instanceof RefusedError ? await explain(client, person, error, deps.signal) : error;
      });
      const evidence = `look with "surveyctl people show ${personText(person)}"; the same again is safe`;
      await showOutcome(deps, write, { answer: RESCHEDULED, found: RESCHEDULED, evidence });
    });
  },
});

async function explain(client: Client, person: PersonName, error: RefusedError, signal: AbortSignal): Promise<Error> {
  const who = personText(person);
  if (complaintsAbout("person", error.details).length > 0)
    return new NothingFoundError(`${who} has no such waiting survey`, `surveyctl people show ${who} lists surveys`);
  const lacking = "this service cannot reschedule surveys";
  return error.status === 422 ? error : explainRefusal(client, { lacking }, person, error, signal);
}
