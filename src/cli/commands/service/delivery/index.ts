import { parseChoice } from "../../../args/values.ts";
import { countOf } from "../../../../contract/text/whole-number.ts";
import { EXIT } from "../../../exit-codes.ts";
import { defineGroup } from "../../../kit/command-node.ts";
import { serviceCommand } from "../service-command.ts";
import { toResource } from "../../../render/columns.ts";
import { doctor, test } from "./doctor.ts";
import { DELIVERIES, list } from "./list.ts";
import { show } from "./show.ts";
import { status } from "./status.ts";

export const delivery = defineGroup({
  name: "delivery",
  summary: "the state of each survey, and what is paused or held",
  commands: [
    list,
    show,
    status,
    serviceCommand({
      operation: "delivery.resolve",
      summary: "record that an unknown survey arrived, or send it again",
      examples: [
        "surveyctl service delivery resolve 42 sent --data survey.db",
        "surveyctl service delivery resolve 42 resend --project acme",
      ],
      args: {
        id: { form: "<id>", text: "the survey's number, from `service delivery list --state unknown`" },
        outcome: {
          form: "<outcome>",
          text: "sent, if it has arrived; resend, to send it once more",
          parse: (text: string) => parseChoice(text, "<outcome>", ["sent", "resend"] as const),
        },
      },
      columns: DELIVERIES,
    }),
    serviceCommand({
      operation: "delivery.resume",
      scope: "server",
      summary: "send held surveys, and let stopped senders try again now",
      examples: ["surveyctl service delivery resume --data survey.db", "surveyctl service delivery resume --json"],
      exits: [EXIT.done, EXIT.failed],
      columns: toResource("surveys", { released: "number" }),
      done: ({ released }) => `Released ${countOf(released, "held survey")}.`,
    }),
    doctor,
    test,
  ],
});
