import { capital } from "../../../../contract/text/capital.ts";
import { DAY_SECONDS } from "../../../../runtime/zone.ts";
import { LOG_AGE_FORM, LOG_KEPT_MIN } from "../../../../service/domain/operation-log/operation-log.ts";
import { EVENTS_KEPT } from "../../../../service/domain/privacy/retention.ts";
import { DONE, listExpired, PLANNED } from "../../../../service/domain/privacy/retention-words.ts";
import type { ResultOf } from "../../../../service/operations/index.ts";
import { ageForm, readAge } from "../../../../contract/text/duration.ts";
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
  log: "duration",
  expired_log_lines: "number",
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
    log: {
      flag: "--log",
      value: "time",
      text: "age at which lines of `service log` are deleted, at least 30d; only where the data is",
      otherwise: "400d",
      parse: parseLogAge,
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
    // A look at a restored backup must remove nothing.
    const isLook = deps.options.dryRun || Object.values(ages).every((age) => age === null);
    // The command itself counts without changing anything.
    const counting = { ...deps, options: { ...deps.options, dryRun: false } };
    const call = { kind: "retention", project, ...ages, anonymize, delete: deletes, dry_run: isLook } as const;
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

/** Seconds. Throws UsageError. */
function parseAge(given: string, flag: string, max = Infinity): number | "off" {
  const text = given.trim();
  if (text === "off") return "off";
  const seconds = readAge(text);
  if (seconds !== null && seconds >= DAY_SECONDS && seconds <= max) return seconds;
  throw badValue(flag, text, `an age of ${ageForm(max)}, or off`);
}

function parseLogAge(text: string, flag: string): number {
  const seconds = readAge(text);
  if (seconds === null || seconds < LOG_KEPT_MIN) throw badValue(flag, text, LOG_AGE_FORM);
  return seconds;
}
