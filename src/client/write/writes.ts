import type { HttpRequest } from "../../contract/http.ts";
import type { JsonObject } from "../../contract/json.ts";
import type { Caller, Outcome } from "../call/caller.ts";
import type { Reply, WriteResult } from "../client.ts";
import { BadReplyError } from "../errors/bad-reply-error.ts";
import type { ClientError } from "../errors/client-error.ts";
import { TimeoutError } from "../errors/timeout-error.ts";
import { UnknownOutcomeError } from "../errors/unknown-outcome-error.ts";
import type { Settlement } from "./evidence.ts";
import { readObject } from "../answer/reply.ts";

export interface Write {
  readonly request: HttpRequest;
  /** A repeat changes nothing more. */
  readonly idempotent: boolean;
  /** Looks for evidence after an ambiguous failure; absent where there is nothing to look at. */
  readonly lookUp?: () => Promise<Settlement>;
  /** A first try that timed out may still be under way, and its repeat would add a second row. */
  readonly unsafeWhenLate?: boolean;
}

/** One write to its end (design: "HTTP behaviour"). Throws when it certainly did not arrive, or was refused. */
export async function performWrite(caller: Caller, write: Write): Promise<WriteResult> {
  let outcome = await caller.run(write.request, write.idempotent, readObject);
  while (outcome.kind === "lost") {
    const settlement = await settle(write, outcome.error);
    if (settlement.kind === "arrived") return settlement;
    if (settlement.kind === "unsettled") return unknown(settlement.reason, outcome.error);
    outcome = await outcome.goOn();
  }
  return outcome.kind === "answered" ? { kind: "answered", reply: outcome.value } : givenUp(write, outcome);
}

async function settle(write: Write, error: ClientError): Promise<Settlement> {
  if (write.lookUp === undefined) return { kind: "unsettled", reason: "there is no way to look it up" };
  try {
    const settlement = await write.lookUp();
    const late = settlement.kind === "absent" && write.unsafeWhenLate === true && error instanceof TimeoutError;
    return late ? { kind: "unsettled", reason: "it may still be under way" } : settlement;
  } catch (failure) {
    write.request.signal?.throwIfAborted();
    return { kind: "unsettled", reason: `looking it up failed: ${(failure as Error).message}` };
  }
}

type GivenUp = Extract<Outcome<Reply>, { kind: "given-up" }>;

function givenUp(write: Write, { error, lostBefore }: GivenUp): WriteResult {
  const gone = error.status === 404 || error.status === 410;
  if (write.request.method === "DELETE" && gone && lostBefore) {
    return { kind: "arrived", evidence: "the repeat found nothing left to remove", found: {} satisfies JsonObject };
  }
  if (error instanceof BadReplyError && !error.cutShort)
    return unknown("the answer says success and cannot be read", error);
  throw error;
}

function unknown(reason: string, error: ClientError): WriteResult {
  return {
    kind: "unknown",
    error: new UnknownOutcomeError(reason, { call: error.call, status: error.status, cause: error }),
  };
}
