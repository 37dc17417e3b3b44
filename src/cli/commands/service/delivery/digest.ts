import type { Command } from "commander";
import { WEEKDAYS } from "../../../../service/domain/delivery/digest-rows.ts";
import type { Flags } from "../../../args/flags.ts";
import { parseEmail } from "../../../args/people.ts";
import { badValue, parseChoice } from "../../../args/values.ts";
import type { CommandContext } from "../../../command/command-context.ts";
import { UsageError } from "../../../errors/usage-error.ts";
import { projectVerb } from "../project-verb.ts";
import { ALLOW_PRIVATE_FLAG, urlRefusal } from "../webhook.ts";
import { toResource } from "../service-resources.ts";
import { registerDigestPreview } from "./digest-preview.ts";
import { isUrl, registerDigestTest } from "./digest-test.ts";

const DIGESTS = toResource(
  "digests",
  {
    id: "id",
    email: "text",
    every: "text",
    at: "text",
    tz: "text",
    state: "status",
    next_at: "time",
    last_sent_at: "time",
    reason: "text",
    created_at: "time",
  },
  ["created_at", "id", "reason"],
);
const REMOVED_DIGEST = toResource("digests", { id: "id", email: "text" });

const AT = "08:00";

/** Minutes of the day of `08:00`. Throws UsageError. */
function parseMinute(text: string, place: string): number {
  const [, hour = "", minute = ""] = /^(\d{1,2}):(\d\d)$/.exec(text.trim()) ?? [];
  const minutes = Number(hour) * 60 + Number(minute);
  if (hour === "" || Number(hour) > 23 || Number(minute) > 59)
    throw badValue(place, text, "a time of day, as in 08:00");
  return minutes;
}

/** Throws UsageError. */
async function readTarget(flags: Flags, target: string): Promise<{ email: string; allowPrivate: boolean }> {
  const allowPrivate = flags.is("--allow-private");
  if (!isUrl(target)) return { email: parseEmail(target, "<email|url>"), allowPrivate };
  const refusal = await urlRefusal({ url: target, allowPrivate }, "<email|url>");
  if (refusal !== null) throw refusal;
  return { email: target, allowPrivate };
}

export function registerDigest(parent: Command, context: CommandContext): void {
  const noun = parent.command("digest").description("the week's score and comments by mail or Slack, every week");
  projectVerb(context, noun, {
    kind: "digest.add",
    name: "add",
    summary: "send a project's digest to an address or to Slack every week",
    operands: [["<email|url>", "an address or a Slack webhook URL; an existing one gets the new schedule"]],
    examples: [
      "surveyctl service digest add boss@example.com --every monday --data survey.db",
      "surveyctl service digest add team@example.com --every friday --at 16:30 --tz Europe/Berlin",
      "surveyctl service digest add https://hooks.slack.com/x --every friday",
    ],
    flags: [
      { flag: "--every", value: "day", text: "day of the week; required", choices: [...WEEKDAYS.slice(1), "sunday"] },
      { flag: "--at", value: "time", text: "time of day, in --tz or else the project's time zone", default: AT },
      ALLOW_PRIVATE_FLAG,
    ],
    columns: DIGESTS,
    details: async ({ deps, flags, operands: [target = ""] }) => {
      const day = flags.parse("--every", (text, place) => parseChoice(text.toLowerCase(), place, WEEKDAYS));
      if (day === null) throw new UsageError("--every is required");
      return {
        ...(await readTarget(flags, target)),
        weekday: WEEKDAYS.indexOf(day),
        minute: flags.parse("--at", parseMinute) ?? parseMinute(AT, "--at"),
        zone: deps.options.timeZone,
      };
    },
  });
  registerDigestPreview(noun, context);
  registerDigestTest(noun, context);
  projectVerb(context, noun, {
    kind: "digest.list",
    name: "list",
    alias: "ls",
    summary: "list who gets the digest, when, and what became of the last one",
    examples: ["surveyctl service digest list --data survey.db", "surveyctl service digest list --json"],
    columns: DIGESTS,
  });
  projectVerb(context, noun, {
    kind: "digest.remove",
    name: "remove",
    alias: "rm",
    summary: "stop sending digests to a reader",
    operands: [["<email|url|id>", "who gets it"]],
    examples: [
      "surveyctl service digest remove boss@example.com --data survey.db",
      "surveyctl service digest rm 12 --project acme",
    ],
    columns: REMOVED_DIGEST,
    details: ({ operands: [digest = ""] }) => ({ digest }),
    done: ({ email }) => `${email} gets no more digests.`,
  });
}
