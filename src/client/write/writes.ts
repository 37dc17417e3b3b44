import type { HttpRequest } from "../../contract/http.ts";
import type { JsonObject } from "../../contract/json.ts";
import type { ReplyReader } from "../answer/reply.ts";
import type { RequestCaller, CallOutcome } from "../call/caller.ts";
import type { ApiReply, WriteResult } from "../client.ts";
import type { ClientError } from "../errors/client-error.ts";
import { effectOf, mayHaveArrived } from "../errors/may-have-arrived.ts";
import { UnknownOutcomeError } from "../errors/unknown-outcome-error.ts";
import type { Settlement } from "./evidence.ts";

export interface Write {
  readonly request: HttpRequest;
  /** A repeat changes nothing more. */
  readonly idempotent: boolean;
  /** What its answer must be to count as one. */
  readonly read: ReplyReader<ApiReply>;
  /** Looks for evidence until the settling time is over; absent where a repeat is as good, or there is nothing to look at. */
  readonly settle?: (failure: ClientError) => Promise<Settlement>;
}

/**
 * One write to its end. Throws when it was refused or certainly not sent, and when the repeats of an idempotent one
 * ended. Any other that may have arrived is looked up, and never repeated: its request may be at work still.
 */
export async function performWrite(caller: RequestCaller, write: Write): Promise<WriteResult> {
  const outcome = await caller.run(write.request, write.idempotent, write.read);
  return outcome.kind === "answered" ? { kind: "answered", reply: outcome.value } : await givenUp(write, outcome);
}

type GivenUp = Extract<CallOutcome<ApiReply>, { kind: "given-up" }>;

async function givenUp(write: Write, { error, lostBefore }: GivenUp): Promise<WriteResult> {
  const gone = error.status === 404 || error.status === 410;
  if (write.request.method === "DELETE" && gone && lostBefore) {
    return { kind: "arrived", evidence: "the repeat found nothing left to remove", found: {} satisfies JsonObject };
  }
  // Of several tries the last may not have left, and an earlier one has.
  const isUnknown = mayHaveArrived(error) || (lostBefore && effectOf(error) === "not-sent");
  if (!isUnknown) throw error;
  if (write.settle === undefined) return withoutCheck(error);
  const settlement = await check(write, error);
  if (settlement.kind === "arrived") return settlement;
  const reason = settlement.kind === "absent" ? "a check found no trace of it" : settlement.reason;
  return { kind: "unknown", error: new UnknownOutcomeError(error, reason) };
}

/** An idempotent write: its answer said success, its last try never left, or its repeats failed to the end. */
function withoutCheck(error: ClientError): WriteResult {
  const isSuccess = error.status !== null && error.status >= 200 && error.status < 300;
  if (!isSuccess && effectOf(error) !== "not-sent") throw error;
  return { kind: "unknown", error: new UnknownOutcomeError(error, null) };
}

async function check({ request, settle }: Write, error: ClientError): Promise<Settlement> {
  try {
    return (await settle?.(error)) ?? { kind: "unsettled", reason: "there is nothing to check" };
  } catch (failure) {
    request.signal?.throwIfAborted();
    const { what, message } = failure as ClientError;
    return { kind: "unsettled", reason: `checking failed: ${what ?? message}` };
  }
}
