import { capital } from "../../../../contract/text/capital.ts";
import { DONE, listExpired, PLANNED } from "../../../../service/domain/privacy/retention-words.ts";
import { UsageError } from "../../../errors/usage-error.ts";
import { serviceCommand } from "../service-command.ts";

export const retention = serviceCommand({
  operation: "retention",
  summary: "set how long data is kept, and apply it now; without flags, show it; `serve` applies it every hour",
  examples: [
    "surveyctl service retention",
    "surveyctl service retention --responses 5y --anonymize --dry-run",
    "surveyctl service retention --responses 5y --delete --requests 400d --yes --data survey.db",
  ],
  flags: {
    responses: { value: "time", text: "age at which responses expire, such as 5y; off keeps them" },
    anonymize: {
      text: "expired responses keep score and time, and lose person, comment and properties",
      conflicts: ["--delete"],
    },
    delete: { text: "expired responses are deleted" },
    requests: { value: "time", text: "age at which ended surveys are deleted, such as 400d; off keeps them" },
    webhooks: { value: "time", text: "age at which webhook events are deleted, at most 30d", otherwise: "30d" },
    log: {
      value: "time",
      text: "age at which lines of `service log` are deleted, at least 30d; only for local data",
      otherwise: "400d",
    },
  },
  noun: "settings",
  asks: true,
  dryRuns: true,
  input: ({ anonymize, delete: deletes, ...ages }, deps) => {
    const isAge = ages.responses !== null && ages.responses !== "off";
    if (isAge && !anonymize && !deletes) throw new UsageError("--responses: specify --anonymize or --delete");
    if ((anonymize || deletes) && !isAge)
      throw new UsageError(`${anonymize ? "--anonymize" : "--delete"} needs --responses with an age`);
    return { ...ages, anonymize, delete: deletes, dry_run: deps.options.dryRun };
  },
  done: (info, { isChange }) => {
    if (info.mode === null && info.requests === null && info.webhooks === null)
      return "Everything is kept: no retention is set.";
    return isChange
      ? `${capital(listExpired(info, DONE))}.`
      : `Would ${listExpired(info, PLANNED)}. Nothing was changed.`;
  },
});
