import type { Client, WriteResult } from "../../client/client.ts";
import { ClientError } from "../../client/errors/client-error.ts";
import { effectOf, mayHaveArrived } from "../../client/errors/call-errors.ts";
import { toNumber, type Settlement } from "../../client/write/evidence.ts";
import type { ImportRow } from "../../bulk/import/check/row-kind.ts";
import type { OutcomeName, RowOutcome } from "../../bulk/import/journal/outcome.ts";
import type { Sender, Settled } from "../../bulk/import/send-rows.ts";
import { isJsonObject, type Json, type JsonObject } from "../../contract/json.ts";
import { describeSurveyStatus, UNKNOWN_REASON, type SurveyStatusName } from "../../contract/text/survey-status.ts";
import { createWallClock } from "../../runtime/zone.ts";
import { countOf } from "../../contract/text/whole-number.ts";
import { StopRule } from "../kit/rows/stop-rule.ts";
import { surveyStatusOf } from "../kit/write-outcome.ts";

export interface RowSender extends Sender {
  remarks(): readonly string[];
}

export function createBreaker() {
  const rule = new StopRule();
  return {
    async outcomeOf(row: SizedRow, write: Promise<RowOutcome>): Promise<RowOutcome> {
      try {
        const outcome = await write;
        rule.ended(outcome.outcome === "unknown" ? "unknown" : "well");
        return outcome;
      } catch (error) {
        if (rule.stopsAt(error) || !(error instanceof ClientError)) throw error;
        return failed(error, row);
      }
    },
  };
}

type SizedRow = Pick<ImportRow, "values" | "properties">;

function failed(error: ClientError, row: SizedRow): RowOutcome {
  const reason = error.status === TOO_LARGE ? describeTooLarge(row) : error.what;
  return toOutcome("failed", { error: reason, ...(mayHaveArrived(error) && { mayHaveArrived: true }) });
}

export function toOutcome(outcome: OutcomeName, about: Partial<RowOutcome> = {}): RowOutcome {
  return { outcome, personId: null, surveyScheduledAt: null, error: null, ...about };
}

const TOO_LARGE = 413;
const MIB = 1024 * 1024;

/** Our own server accepts 1 MiB; the limits of other servers are unknown. */
function describeTooLarge({ values, properties }: SizedRow): string {
  const isLarge = Buffer.byteLength(JSON.stringify([values, properties])) >= MIB;
  return `the service answered ${TOO_LARGE}, the row is ${isLarge ? "larger than 1 MiB" : "too large for it"}`;
}

export function toPersonOutcome(result: WriteResult, isSurveyWanted: boolean, zone: string | null): RowOutcome {
  if (result.kind === "unknown") return toOutcome("unknown", { error: result.error.what });
  if (result.kind === "arrived") return toFoundPerson(result.found);
  const { id, survey_scheduled_at: scheduledAt } = result.reply.json;
  const outcome = personOutcome(toId(id, result.reply.text), scheduledAt);
  if (!isSurveyWanted || outcome.outcome !== "saved") return outcome;
  return { ...outcome, ...(notScheduled(result, zone) ?? { error: UNKNOWN_REASON }) };
}

export const WITH_BEFORE = { expand: ["before"] } as const;

/**
 * Undefined if an earlier attempt may already have overwritten the old values, because `before` would then be wrong. A
 * person whom this attempt created had no old values.
 */
export function undoOf(result: WriteResult, wasSent: boolean): RowOutcome["writes"] {
  if (result.kind !== "answered") return undefined;
  const { before, undo } = result.reply.json;
  const isSure = before === null || !(wasSent || result.lostBefore);
  return before !== undefined && isJsonObject(undo) && isSure ? [{ before, ...undo }] : undefined;
}

const STATUS_OUTCOMES: Readonly<Record<Exclude<SurveyStatusName, "paused">, OutcomeName>> = {
  throttled: "throttled",
  pending: "pending",
  unsubscribed: "suppressed",
  bounced: "suppressed",
  unreachable: "saved",
};

export function notScheduled(result: WriteResult, zone: string | null): Pick<RowOutcome, "outcome" | "error"> | null {
  const status = surveyStatusOf(result);
  // A paused survey is still scheduled.
  if (status === null || status.status === "paused") return null;
  return { outcome: STATUS_OUTCOMES[status.status], error: describeSurveyStatus(status, createWallClock(zone)) };
}

export function createPauseCount(): { take(result: WriteResult): void } & Pick<RowSender, "remarks"> {
  const waiting = new Map<string, number>();
  return {
    take(result) {
      const status = surveyStatusOf(result);
      if (status?.status !== "paused") return;
      const reason = status.since === null ? "Autopilot is inactive" : "sending is paused";
      waiting.set(reason, (waiting.get(reason) ?? 0) + 1);
    },
    remarks: () =>
      [...waiting].map(([reason, count]) => `${countOf(count, "survey waits", "surveys wait")}: ${reason}`),
  };
}

function toFoundPerson({ id, next_survey_scheduled_at: scheduledAt, last_sent_at: sentAt }: JsonObject): RowOutcome {
  return personOutcome(toId(id), scheduledAt ?? sentAt);
}

function personOutcome(personId: string | null, scheduledAt: Json | undefined): RowOutcome {
  const at = toNumber(scheduledAt);
  return toOutcome(at === null ? "saved" : "scheduled", { personId, surveyScheduledAt: at });
}

/** JSON.parse loses digits of numeric ids beyond 2^53, so they are read from the text. */
export function toId(id: Json | undefined, text = ""): string | null {
  if (typeof id === "string") return id;
  if (typeof id !== "number") return null;
  if (Number.isSafeInteger(id)) return String(id);
  const digits = [...text.matchAll(/"id"\s*:\s*(\d+)/g)].map(([, found = ""]) => found);
  return digits.find((found) => Number(found) === id) ?? null;
}

export function toSettled(
  settlement: Settlement,
  outcomeOf: (found: JsonObject) => RowOutcome = toFoundPerson,
): Settled {
  if (settlement.kind === "arrived") return { kind: "arrived", outcome: outcomeOf(settlement.found) };
  return settlement;
}

export function commonParts(client: Client): Pick<RowSender, "serverNow" | "isUnsent" | "remarks"> {
  return {
    serverNow: client.serverNow,
    isUnsent: (error) => effectOf(error) === "not-sent",
    remarks: () => [],
  };
}
