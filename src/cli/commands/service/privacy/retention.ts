import { capital } from "../../../../contract/text/capital.ts";
import { DAY_SECONDS } from "../../../../runtime/zone.ts";
import { EVENTS_KEPT } from "../../../../service/domain/privacy/retention.ts";
import { DONE, listExpired, PLANNED } from "../../../../service/domain/privacy/retention-words.ts";
import type { ResultOf } from "../../../../service/operations/index.ts";
import { readDuration } from "../../../../contract/text/duration.ts";
import { badValue } from "../../../args/values.ts";
import { writeDone } from "../../../kit/notes.ts";
import { YES_FLAG } from "../../../kit/removal.ts";
import { UsageError } from "../../../errors/usage-error.ts";
import { EXIT } from "../../../exit-codes.ts";
import { defineCommand } from "../../../kit/define-command.ts";
import { checkColumns } from "../../../render/record-output.ts";
import { callConfirmed, PLACE, PROJECT, showRecord, withAdmin } from "../data/data-file.ts";
import { toResource } from "../service-resources.ts";

const RETENTION = toResource("settings", {
  responses: "duration",
  mode: "text",
  requests: "duration",
  webhooks: "duration",
  expired_responses: "number",
  expired_requests: "number",
  expired_webhook_events: "number",
});

type Retention = ResultOf<"retention">;

export const retention = defineCommand({
  name: "retention",
  summary: "set how long data is kept, and apply it now; without flags, show it; `serve` applies it every hour",
  examples: [
    "surveyctl service retention",
    "surveyctl service retention --responses 5y --anonymize --dry-run",
    "surveyctl service retention --responses 5y --delete --requests 400d --yes --data survey.db",
  ],
  exits: [EXIT.done, EXIT.failed, EXIT.refused],
  flags: {
    place: PLACE,
    project: PROJECT,
    responses: {
      flag: "--responses",
      value: "time",
      text: "age at which responses expire, such as 5y; off keeps them",
      parse: (text: string, flag: string) => parseAge(text, flag),
    },
    anonymize: {
      flag: "--anonymize",
      text: "expired responses keep score and time, and lose person, comment and properties",
      conflicts: ["--delete"],
    },
    delete: { flag: "--delete", text: "expired responses are deleted" },
    requests: {
      flag: "--requests",
      value: "time",
      text: "age at which ended surveys are deleted, such as 400d; off keeps them",
      parse: (text: string, flag: string) => parseAge(text, flag),
    },
    webhooks: {
      flag: "--webhooks",
      value: "time",
      text: "age at which webhook events are deleted, at most 30d",
      otherwise: "30d",
      parse: (text: string, flag: string) => parseAge(text, flag, EVENTS_KEPT),
    },
    yes: YES_FLAG,
  },
  columns: RETENTION,
  run: async (deps, { place, project, yes, anonymize, delete: deletes, ...ages }) => {
    checkColumns(deps, RETENTION);
    const isAge = typeof ages.responses === "number";
    if (isAge && !anonymize && !deletes) throw new UsageError("--responses: specify --anonymize or --delete");
    if ((anonymize || deletes) && !isAge)
      throw new UsageError(`${anonymize ? "--anonymize" : "--delete"} needs --responses with an age`);
    const mode = anonymize ? "anonymize" : deletes ? "delete" : null;
    // A look at a restored backup must remove nothing.
    const isLook = deps.options.dryRun || Object.values(ages).every((age) => age === null);
    // The command itself counts without changing anything.
    const counting = { ...deps, options: { ...deps.options, dryRun: false } };
    const call = { kind: "retention", project, ...ages, mode, dry_run: isLook } as const;
    const removal = { command: "service retention", yes, kept: "Nothing was changed." };
    const info = await withAdmin(counting, { ...place, changes: !isLook }, project, (admin) =>
      callConfirmed(deps, admin, call, removal),
    );
    await showRecord(deps, RETENTION, info);
    await writeDone(deps, describe(info, isLook));
  },
});

function describe(info: Retention, isLook: boolean): string {
  if (info.mode === null && info.requests === null && info.webhooks === null)
    return "Everything is kept: no retention is set.";
  return isLook ? `Would ${listExpired(info, PLANNED)}. Nothing was changed.` : `${capital(listExpired(info, DONE))}.`;
}

/** With its share of a leap day, so that five years are never short of five. */
const YEAR_SECONDS = 365.25 * DAY_SECONDS;

/** Seconds. Throws UsageError. */
function parseAge(given: string, flag: string, max = Infinity): number | "off" {
  const text = given.trim();
  if (text === "off") return "off";
  const [, years] = /^(\d{1,3})y$/.exec(text) ?? [];
  const seconds = years === undefined ? readDuration(text) : Number(years) * YEAR_SECONDS;
  if (seconds !== null && seconds >= DAY_SECONDS && seconds <= max) return seconds;
  const form = max === Infinity ? "a day or more, such as 5y, 400d or 52w" : `1d to ${max / DAY_SECONDS}d, such as 7d`;
  throw badValue(flag, text, `an age of ${form}, or off`);
}
