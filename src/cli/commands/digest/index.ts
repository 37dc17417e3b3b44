import type { Command } from "commander";
import type { FlagRecord } from "../../args/flag-record.ts";
import type { Flags } from "../../args/flags.ts";
import { parseEmail } from "../../args/people.ts";
import { parseChoice } from "../../args/values.ts";
import type { CommandContext } from "../../command/command-context.ts";
import type { Deps } from "../../command/deps.ts";
import { rangeFlags } from "../../command/time-flags.ts";
import { UsageError } from "../../errors/usage-error.ts";
import { EXIT, type ExitCode } from "../../exit-codes.ts";
import { AS_OF_FLAG, readRequest } from "../report/index.ts";
import type { TypedRequest } from "../report/complete-request.ts";
import type { DigestFormat } from "./write-digest.ts";

const FORMATS: readonly DigestFormat[] = ["text", "html", "eml", "slack"];
const WEEK_SECONDS = 7 * 86_400;

const FLAGS: readonly FlagRecord[] = [
  {
    flag: "--output",
    short: "-o",
    value: "format",
    text: "format of the message",
    choices: FORMATS,
    otherwise: "text",
  },
  ...rangeFlags("answered").map((flag) => (flag.flag === "--since" ? { ...flag, otherwise: "7d" } : flag)),
  AS_OF_FLAG,
  { flag: "--trend", value: "id", text: "only responses of this trend" },
  { flag: "--title", value: "text", text: "heading and subject", otherwise: "brand and project" },
  { flag: "--to", value: "email", text: "eml: recipient", repeatable: true },
  { flag: "--from", value: "email", text: "eml: sender", otherwise: "nps-digest@localhost" },
];

export function register(noun: Command, context: CommandContext): void {
  context.describe(noun, {
    examples: [
      "surveyctl digest",
      "surveyctl digest --since 30d -o html > digest.html",
      "surveyctl digest -o eml --to team@example.com | sendmail -t",
    ],
    exits: [EXIT.done, EXIT.failed, EXIT.auth, EXIT.refused],
    flags: FLAGS,
  });
  context.action(noun, startDigest);
}

async function startDigest(deps: Deps, flags: Flags): Promise<ExitCode> {
  if (deps.options.columns !== null) throw new UsageError("digest is a message; --columns cannot change it");
  const format = flags.parse("--output", (text, place) => parseChoice(text, place, FORMATS)) ?? "text";
  const other = ["--to", "--from"].find((flag) => flags.text(flag) !== null || flags.all(flag).length > 0);
  if (format !== "eml" && other !== undefined) throw new UsageError(`${other} requires -o eml`);
  const mail = {
    to: flags.all("--to").map((text) => parseEmail(text, "--to")),
    from: flags.parse("--from", parseEmail) ?? "nps-digest@localhost",
  };
  const request = readDigestRequest(deps, flags);
  const { runDigest } = await import("./write-digest.ts");
  return runDigest(deps, { format, request, mail });
}

/** Comments are masked in every format: a message goes to more people than were meant. */
function readDigestRequest(deps: Deps, flags: Flags): TypedRequest {
  const request = readRequest(deps, flags);
  const since = request.since ?? Math.min(request.until ?? request.asOf, request.asOf) - WEEK_SECONDS;
  return { ...request, since, personal: false, links: false };
}
