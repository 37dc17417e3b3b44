/** From the client's answers to the outcomes of rows. */
import type { Client, WriteResult } from "../../client/client.ts";
import type { ClientError } from "../../client/errors/client-error.ts";
import {
  BadReplyError,
  effectOf,
  mayHaveArrived,
  RefusedError,
  ServiceError,
} from "../../client/errors/call-errors.ts";
import { toNumber, type Settlement } from "../../client/write/evidence.ts";
import type { RowOutcome } from "../../bulk/import/journal/outcome.ts";
import type { Sender, Settled } from "../../bulk/import/send-rows.ts";
import type { Json, JsonObject } from "../../contract/json.ts";

export interface RowSender extends Sender {
  /** Surveys so far that the service leaves in its outbox as files. */
  leftInOutbox(): number;
}

/** Consecutive rows that the service failed on before the run stops: it is the service, not the rows. */
const FAILURES_IN_A_ROW = 20;

export interface Breaker {
  /** The outcome of one row's write, also where it threw; rethrows an error that concerns every row. */
  outcomeOf(write: Promise<RowOutcome>): Promise<RowOutcome>;
}

export function createBreaker(): Breaker {
  let inARow = 0;
  return {
    async outcomeOf(write) {
      try {
        const outcome = await write;
        inARow = outcome.outcome === "unknown" ? inARow + 1 : 0;
        return outcome;
      } catch (error) {
        if (error instanceof RefusedError) {
          inARow = 0;
          return failed(error);
        }
        if (!(error instanceof ServiceError || error instanceof BadReplyError)) throw error;
        inARow += 1;
        if (inARow >= FAILURES_IN_A_ROW) throw error;
        return failed(error);
      }
    },
  };
}

/** Without the method and URL, which are the same for every row. */
function failed(error: ClientError): RowOutcome {
  const outcome: RowOutcome = { outcome: "failed", personId: null, surveyScheduledAt: null, error: error.what };
  return mayHaveArrived(error) ? { ...outcome, mayHaveArrived: true } : outcome;
}

/** A write that answers with, or was found as, a person. */
export function toPersonOutcome(result: WriteResult): RowOutcome {
  if (result.kind === "unknown")
    return { outcome: "unknown", personId: null, surveyScheduledAt: null, error: result.error.what };
  if (result.kind === "arrived") return toFoundPerson(result.found);
  const { id, survey_scheduled_at: scheduledAt } = result.reply.json;
  return personOutcome(toId(id, result.reply.text), scheduledAt);
}

function toFoundPerson({ id, next_survey_scheduled_at: scheduledAt, last_sent_at: sentAt }: JsonObject): RowOutcome {
  return personOutcome(toId(id), scheduledAt ?? sentAt);
}

function personOutcome(personId: string | null, scheduledAt: Json | undefined): RowOutcome {
  const at = toNumber(scheduledAt);
  return { outcome: at === null ? "saved" : "scheduled", personId, surveyScheduledAt: at, error: null };
}

/**
 * Services may write ids as numbers. One beyond 2^53 has lost digits when it was parsed: they are taken from the body's
 * own text, and without that the id is not known.
 */
export function toId(id: Json | undefined, text = ""): string | null {
  if (typeof id === "string") return id;
  if (typeof id !== "number") return null;
  if (Number.isSafeInteger(id)) return String(id);
  const digits = [...text.matchAll(/"id"\s*:\s*(\d+)/g)].map(([, found = ""]) => found);
  return digits.find((found) => Number(found) === id) ?? null;
}

export function toSettled(
  settlement: Settlement,
  toOutcome: (found: JsonObject) => RowOutcome = toFoundPerson,
): Settled {
  if (settlement.kind === "arrived") return { kind: "arrived", outcome: toOutcome(settlement.found) };
  return settlement;
}

/** The sender's parts that all kinds share. */
export function commonParts(client: Client): Pick<RowSender, "serverNow" | "isUnsent" | "leftInOutbox"> {
  return {
    serverNow: client.serverNow,
    isUnsent: (error) => effectOf(error) === "not-sent",
    leftInOutbox: () => 0,
  };
}
