import type { Command } from "commander";
import { capital } from "../../../../contract/text/capital.ts";
import { DAY_SECONDS } from "../../../../runtime/zone.ts";
import type { FlagRecord } from "../../../args/flag-record.ts";
import type { Flags } from "../../../args/flags.ts";
import { badValue, readDuration } from "../../../args/values.ts";
import type { CommandContext } from "../../../command/command-context.ts";
import type { Deps } from "../../../command/deps.ts";
import { countOf, writeDone } from "../../../command/notes.ts";
import { confirmRemoval, YES_FLAG } from "../../../command/removal.ts";
import { UsageError } from "../../../errors/usage-error.ts";
import { createTimeFormatter } from "../../../render/time.ts";
import { EXIT, type ExitCode } from "../../../exit-codes.ts";
import { unixSeconds } from "../../../../runtime/clock.ts";
import { EVENTS_KEPT } from "../../../../service/domain/privacy/retention.ts";
import type { RetentionChange, RetentionInfo } from "../../../../service/admin/privacy/commands.ts";
import {
  PROJECT_FLAGS,
  type ProjectChoice,
  readProject,
  showRecord,
  noteDataFile,
  withAdmin,
} from "../data/data-file.ts";
import { RETENTION } from "../service-resources.ts";
import { checkColumns } from "../../../render/record-output.ts";

interface RetentionOptions extends ProjectChoice {
  readonly change: RetentionChange;
  readonly yes: boolean;
}

async function runRetention(deps: Deps, { project, change, yes, ...given }: RetentionOptions): Promise<ExitCode> {
  checkColumns(deps, RETENTION);
  // A look at a restored backup must remove nothing.
  const isLook = deps.options.dryRun || Object.keys(change).length === 0;
  const removal = { command: "service retention", yes, kept: "Nothing was changed." };
  const setsAge = Object.values(change).some((value) => typeof value === "number");
  const choice = isLook ? given : await noteDataFile(deps, given);
  // The command itself counts without changing anything.
  const counting = { ...deps, options: { ...deps.options, dryRun: false } };
  const apply = (dryRun: boolean): Promise<RetentionInfo> =>
    withAdmin(counting, choice, (admin) => admin({ kind: "retention", project, change, dryRun }));
  if (!isLook)
    await confirmRemoval(deps, removal, async () => {
      const counted = await apply(true);
      // Ages that are not switched off are followed as well, also those of a backup that was restored.
      return setsAge || removesNow(counted) ? compose(deps, counted) : null;
    });
  const info = await apply(isLook);
  await showRecord(deps, RETENTION, info);
  await writeDone(deps, describe(info, isLook));
  return EXIT.done;
}

function removesNow(info: RetentionInfo): boolean {
  return info.expired_responses + info.expired_requests + info.expired_webhook_events > 0;
}

/** `Delete 4,866 responses older than 2021-11-24?` */
function compose({ clock, options }: Deps, info: RetentionInfo): string {
  const now = unixSeconds(clock);
  const format = createTimeFormatter({ format: "iso", zone: options.timeZone, now });
  const older = (age: number | null): string => ` older than ${format(now - (age ?? 0)).slice(0, DAY.length)}`;
  return `${capital(listChanges(info, PLANNED, older))}?`;
}

const DAY = "2026-01-31";

/** The words for a count of rows that expired, and for their end. */
type Words = Readonly<Record<"anonymize" | "delete", (count: string) => string>>;

const PLANNED: Words = {
  anonymize: (count) => `make ${count} anonymous`,
  delete: (count) => `delete ${count}`,
};
const DONE: Words = {
  anonymize: (count) => `${count} made anonymous`,
  delete: (count) => `${count} deleted`,
};

/** `older` gives the age of the rows, in seconds, next to their count. */
function listChanges(info: RetentionInfo, words: Words, older: (age: number | null) => string = () => ""): string {
  const { mode, expired_responses: responses, expired_requests: requests, expired_webhook_events: events } = info;
  const parts = [
    ...(mode === null ? [] : [words[mode](countOf(responses, "response", "responses") + older(info.responses))]),
    ...(info.requests === null ? [] : [words.delete(countOf(requests, "survey", "surveys") + older(info.requests))]),
    ...(info.webhooks === null
      ? []
      : [words.delete(countOf(events, "webhook event", "webhook events") + older(info.webhooks))]),
  ];
  return parts.join(", ");
}

function describe(info: RetentionInfo, isLook: boolean): string {
  if (info.mode === null && info.requests === null && info.webhooks === null)
    return "Everything is kept: no retention is set.";
  return isLook ? `Would ${listChanges(info, PLANNED)}. Nothing was changed.` : `${capital(listChanges(info, DONE))}.`;
}

const FLAGS: readonly FlagRecord[] = [
  ...PROJECT_FLAGS,
  { flag: "--responses", value: "time", text: "age at which responses expire, such as 5y; off keeps them" },
  { flag: "--anonymize", text: "expired responses keep score and time, and lose person, comment and properties" },
  { flag: "--delete", text: "expired responses are deleted" },
  { flag: "--requests", value: "time", text: "age at which ended surveys are deleted, such as 400d; off keeps them" },
  { flag: "--webhooks", value: "time", text: "age at which webhook events are deleted, at most 30d", otherwise: "30d" },
  YES_FLAG,
];

export function registerRetention(parent: Command, context: CommandContext): void {
  const verb = context.verb(parent, {
    name: "retention",
    summary: "set how long data is kept, and apply it now; without flags, show it; `serve` applies it every hour",
    examples: [
      "surveyctl service retention",
      "surveyctl service retention --responses 5y --anonymize --dry-run",
      "surveyctl service retention --responses 5y --delete --requests 400d --yes --data survey.db",
    ],
    exits: [EXIT.done, EXIT.failed, EXIT.refused],
    flags: FLAGS,
    columns: RETENTION,
  });
  context.action(verb, (deps, flags) =>
    runRetention(deps, { ...readProject(flags), change: readChange(flags), yes: flags.is("--yes") }),
  );
}

/** Throws UsageError. */
function readChange(flags: Flags): RetentionChange {
  const [anonymizes, deletes] = [flags.is("--anonymize"), flags.is("--delete")];
  if (anonymizes && deletes) throw new UsageError("--anonymize and --delete cannot be used together");
  const responses = readAge(flags, "--responses");
  if (typeof responses === "number" && !anonymizes && !deletes)
    throw new UsageError("--responses: specify --anonymize or --delete");
  if ((anonymizes || deletes) && typeof responses !== "number")
    throw new UsageError(`${anonymizes ? "--anonymize" : "--delete"} needs --responses with an age`);
  const [requests, webhooks] = [readAge(flags, "--requests"), readAge(flags, "--webhooks", EVENTS_KEPT)];
  return {
    ...(responses === undefined ? {} : { responses }),
    ...(anonymizes ? { mode: "anonymize" as const } : deletes ? { mode: "delete" as const } : {}),
    ...(requests === undefined ? {} : { requests }),
    ...(webhooks === undefined ? {} : { webhooks }),
  };
}

/** With its share of a leap day, so that five years are never short of five. */
const YEAR_SECONDS = 365.25 * DAY_SECONDS;

/** Seconds; null for `off`, undefined when the flag was not given. Throws UsageError. */
function readAge(flags: Flags, flag: string, max = Infinity): number | null | undefined {
  const text = flags.text(flag)?.trim();
  if (text === undefined || text === "off") return text === undefined ? undefined : null;
  const [, years] = /^(\d{1,3})y$/.exec(text) ?? [];
  const seconds = years === undefined ? readDuration(text) : Number(years) * YEAR_SECONDS;
  if (seconds !== null && seconds >= DAY_SECONDS && seconds <= max) return seconds;
  const form = max === Infinity ? "a day or more, such as 5y, 400d or 52w" : `1d to ${max / DAY_SECONDS}d, such as 7d`;
  throw badValue(flag, text, `an age of ${form}, or off`);
}
