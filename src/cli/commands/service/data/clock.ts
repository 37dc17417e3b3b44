import type { Command } from "commander";
import { toIsoTime } from "../../../../contract/text/iso-time.ts";
import type { CommandContext } from "../../../command/command-context.ts";
import { serviceVerb } from "../project-verb.ts";
import { CLOCK } from "../service-resources.ts";

export function registerClock(parent: Command, context: CommandContext): void {
  serviceVerb(context, parent, {
    kind: "clock",
    name: "clock",
    summary: "compare the clock with the newest write, and recover from a clock that was ahead",
    examples: ["surveyctl service clock --data survey.db", "surveyctl service clock --reset --yes --data survey.db"],
    flags: [{ flag: "--reset", text: "forget the later times: surveys and retries wait by the clock again" }],
    columns: CLOCK,
    details: ({ flags }) => ({ reset: flags.is("--reset") }),
    removal: {
      command: "service clock --reset",
      isMeant: ({ flags }) => flags.is("--reset"),
      question: async (admin) => {
        const { clock, newest_write: newest, behind } = await admin({ kind: "clock", reset: false });
        if (behind === 0) return null;
        const [now, later] = [clock, newest].map(toIsoTime);
        return `The clock shows ${now}, the newest write says ${later}. Is the clock right? Then ${later} is forgotten.`;
      },
    },
    done: ({ behind }, { flags }) => {
      if (flags.is("--reset")) return "Surveys and retries wait by the clock.";
      return behind === 0 ? null : "If the clock is right, use --reset.";
    },
  });
}
