import { isJsonObject, type JsonObject } from "../../contract/json.ts";
import { ROUTES } from "../../contract/routes.ts";
import type { Clock } from "../../runtime/clock.ts";
import { readWritten, type ReplyReader } from "../answer/reply.ts";
import { waitFacts, type Caller, type CallOutcome } from "../call/caller.ts";
import type { ApiReply, CallOptions, Client, IntentOptions, WriteResult } from "../client.ts";
import type { OnWait } from "../trace/trace.ts";
import { isNamed, type Settlement } from "./evidence.ts";
import { identifiersOf, idText, lookUpPerson, lookUpResponse, type LookUp } from "./look-up.ts";
import type { Requests, RouteCall } from "../requests.ts";
import { settle } from "./settling.ts";
import type { HttpRequest } from "../../contract/http.ts";
import type { ClientError } from "../errors/client-error.ts";
import { effectOf, mayHaveArrived, UnknownOutcomeError } from "../errors/call-errors.ts";

interface Tools {
  readonly caller: Caller;
  readonly requests: Requests;
  readonly pages: Pick<Client, "page" | "baseUrl">;
  readonly clock: Clock;
  /** Milliseconds that a request without a response may still be running. */
  readonly settleMs: number;
  readonly onWait: OnWait | undefined;
}

export function createWriteMethods(
  tools: Tools,
): Pick<Client, "sendPerson" | "addResponse" | "addMember" | "removeMember" | "change"> {
  const { caller, requests, pages, clock, settleMs, onWait } = tools;
  const repeatable = async (call: RouteCall, read: ReplyReader<ApiReply>): Promise<WriteResult> =>
    await performWrite(caller, { request: requests.ofRoute(call), idempotent: call.route.idempotent, read });
  const settling = (
    look: (lookUp: LookUp) => Promise<Settlement>,
    { intentAt, signal }: IntentOptions,
  ): NonNullable<Write["settle"]> => {
    const own = clock.now();
    return async (failure) => {
      const lookUp = { client: pages, intentAt: () => intentAt ?? caller.serverClock.at(own), signal };
      let over: (() => void) | void;
      const onPause = (forMs: number): void => {
        over = onWait?.({ kind: "check", ...waitFacts(failure, forMs), isNews: true });
      };
      return await settle(() => look(lookUp), { clock, settleMs, signal, onPause }).finally(() => over?.());
    };
  };
  return {
    sendPerson: async (body, options = {}) => {
      const request = requests.ofRoute({ route: ROUTES.sendPerson, body, ...expanding(options) });
      const read = readWritten((json) => showsPerson(json, body));
      if (isRepeatablePerson(body)) return await performWrite(caller, { request, read, idempotent: true });
      const look = settling((lookUp) => lookUpPerson(body, lookUp), options);
      return await performWrite(caller, { ...options, request, read, idempotent: false, settle: look });
    },
    addResponse: async (body, options = {}) => {
      const request = requests.ofRoute({ route: ROUTES.addResponse, body, signal: options.signal });
      const read = readWritten((json) => idText(json["id"]) !== "");
      const look = settling((lookUp) => lookUpResponse(body, lookUp), options);
      return await performWrite(caller, { ...options, request, read, idempotent: false, settle: look });
    },
    addMember: async (platform, body, options = {}) => {
      const shows = (json: JsonObject): boolean => showsMember(json, body);
      const call = { route: ROUTES.addMember, placeholders: { platform }, body, ...expanding(options) };
      return await repeatable(call, readWritten(shows));
    },
    removeMember: async (platform, body, { signal } = {}) => {
      const shows = (json: JsonObject): boolean => !("error" in json || "errors" in json) || showsMember(json, body);
      const call = { route: ROUTES.removeMember, placeholders: { platform }, body, signal };
      return await repeatable(call, readWritten(shows));
    },
    change: async (call) =>
      await repeatable(
        call,
        readWritten((json) => !("error" in json || "errors" in json)),
      ),
  };
}

function expanding({ signal, expand }: CallOptions): Pick<RouteCall, "signal" | "parameters"> {
  return { signal, ...(expand && { parameters: { expand: [...expand] } }) };
}

/**
 * Repeating a request with `send=false` is safe because it only saves (4.2), unless it changes an address: the old one
 * no longer exists.
 */
export function isRepeatablePerson(body: JsonObject): boolean {
  return body["send"] === false && body["email_update"] === undefined && body["phone_number_update"] === undefined;
}

function showsPerson(json: JsonObject, body: JsonObject): boolean {
  const sent = [
    ...identifiersOf(body, "email", "phone_number"),
    ...identifiersOf(body, "email_update", "phone_number_update"),
  ];
  return idText(json["id"]) !== "" || sent.some((identifier) => isNamed(json, identifier));
}

/** The response is the person, or has a `person` field (4.9, 4.10). */
function showsMember(json: JsonObject, body: JsonObject): boolean {
  const person = isJsonObject(json["person"]) ? json["person"] : json;
  const sent = [...identifiersOf(body, "person_email", "person_phone_number")];
  return idText(person["id"]) !== "" || sent.some((identifier) => isNamed(person, identifier));
}

interface Write extends Pick<IntentOptions, "onAccepted"> {
  readonly request: HttpRequest;
  readonly idempotent: boolean;
  readonly read: ReplyReader<ApiReply>;
  readonly settle?: (failure: ClientError) => Promise<Settlement>;
}

/**
 * Throws if the write was refused or not sent, or if an idempotent write ran out of retries. A write that may have
 * arrived is looked up and never repeated, because its request may still be running.
 */
async function performWrite(caller: Caller, write: Write): Promise<WriteResult> {
  const outcome = await caller.run(write.request, write.idempotent, write.read);
  if (outcome.kind === "given-up") return await givenUp(write, outcome);
  return { kind: "answered", reply: outcome.value, lostBefore: outcome.lostBefore };
}

type GivenUp = Extract<CallOutcome<ApiReply>, { kind: "given-up" }>;

async function givenUp(write: Write, { error, lostBefore }: GivenUp): Promise<WriteResult> {
  const gone = error.status === 404 || error.status === 410;
  if (write.request.method === "DELETE" && gone && lostBefore) {
    return { kind: "arrived", evidence: "the repeat found nothing left to remove", found: {} satisfies JsonObject };
  }
  // An earlier attempt may have been sent even if the last one wasn't.
  const isUnknown = mayHaveArrived(error) || (lostBefore && effectOf(error) === "not-sent");
  if (!isUnknown) throw error;
  if (isSuccess(error)) await write.onAccepted?.();
  if (write.settle === undefined) return withoutCheck(error);
  const settlement = await check(write, error);
  if (settlement.kind === "arrived") return settlement;
  const reason = settlement.kind === "absent" ? "a check found no trace of it" : settlement.reason;
  return { kind: "unknown", error: new UnknownOutcomeError(error, reason) };
}

function withoutCheck(error: ClientError): WriteResult {
  if (!isSuccess(error) && effectOf(error) !== "not-sent") throw error;
  return { kind: "unknown", error: new UnknownOutcomeError(error, null) };
}

function isSuccess({ status }: ClientError): boolean {
  return status !== null && status >= 200 && status < 300;
}

async function check({ request, settle: look }: Write, error: ClientError): Promise<Settlement> {
  try {
    return (await look?.(error)) ?? { kind: "unsettled", reason: "there is nothing to check" };
  } catch (failure) {
    request.signal?.throwIfAborted();
    const { what, message } = failure as ClientError;
    return { kind: "unsettled", reason: `checking failed: ${what ?? message}` };
  }
}
