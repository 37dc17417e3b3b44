import { isJsonObject, type JsonObject } from "../../contract/json.ts";
import { ROUTES } from "../../contract/routes.ts";
import type { Clock } from "../../runtime/clock.ts";
import { readWritten, type ReplyReader } from "../answer/reply.ts";
import { waitFacts, type RequestCaller } from "../call/caller.ts";
import type { CallOptions, Client, ApiReply, WriteResult } from "../client.ts";
import type { OnWait } from "../trace/trace-event.ts";
import { isNamed, type Settlement } from "./evidence.ts";
import { identifiersOf, idText, lookUpPerson, lookUpResponse, type LookUp } from "./look-up.ts";
import type { Requests, RouteCall } from "../requests.ts";
import type { ServerClock } from "./server-clock.ts";
import { settle } from "./settling.ts";
import { performWrite, type Write } from "./writes.ts";

export type WriteMethods = Pick<Client, "sendPerson" | "addResponse" | "addMember" | "removeMember">;

interface Tools {
  readonly caller: RequestCaller;
  readonly requests: Requests;
  readonly pages: Pick<Client, "page" | "baseUrl">;
  readonly serverClock: ServerClock;
  readonly clock: Clock;
  /** How long a request whose answer was lost may be at work, milliseconds. */
  readonly settleMs: number;
  readonly onWait: OnWait | undefined;
}

type IntentOptions = CallOptions & { readonly intentAt?: number };

/** The writes of `Client`; those that a repeat could harm come with their look-up. */
export function createWriteMethods(tools: Tools): WriteMethods {
  const { caller, requests, pages, serverClock, clock, settleMs, onWait } = tools;
  const repeatable = async (call: RouteCall, read: ReplyReader<ApiReply>): Promise<WriteResult> =>
    await performWrite(caller, { request: requests.ofRoute(call), idempotent: call.route.idempotent, read });
  const settling = (
    look: (lookUp: LookUp) => Promise<Settlement>,
    { intentAt, signal }: IntentOptions,
  ): NonNullable<Write["settle"]> => {
    const own = serverClock.ownNow();
    return async (failure) => {
      const lookUp = { client: pages, intentAt: () => intentAt ?? serverClock.at(own), signal };
      let over: (() => void) | void;
      const onPause = (forMs: number): void => {
        over = onWait?.({ kind: "check", ...waitFacts(failure, forMs), isNews: true });
      };
      return await settle(() => look(lookUp), { clock, settleMs, signal, onPause }).finally(() => over?.());
    };
  };
  return {
    sendPerson: async (body, options = {}) => {
      const request = requests.ofRoute({ route: ROUTES.sendPerson, body, signal: options.signal });
      const read = readWritten((json) => showsPerson(json, body));
      if (isRepeatablePerson(body)) return await performWrite(caller, { request, read, idempotent: true });
      const look = settling((lookUp) => lookUpPerson(body, lookUp), options);
      return await performWrite(caller, { request, read, idempotent: false, settle: look });
    },
    addResponse: async (body, options = {}) => {
      const request = requests.ofRoute({ route: ROUTES.addResponse, body, signal: options.signal });
      const read = readWritten((json) => idText(json["id"]) !== "");
      const look = settling((lookUp) => lookUpResponse(body, lookUp), options);
      return await performWrite(caller, { request, read, idempotent: false, settle: look });
    },
    addMember: async (platform, body, { signal } = {}) => {
      const shows = (json: JsonObject): boolean => showsMember(json, body);
      const call = { route: ROUTES.addMember, placeholders: { platform }, body, signal };
      return await repeatable(call, readWritten(shows));
    },
    removeMember: async (platform, body, { signal } = {}) => {
      const shows = (json: JsonObject): boolean => !("error" in json || "errors" in json) || showsMember(json, body);
      const call = { route: ROUTES.removeMember, placeholders: { platform }, body, signal };
      return await repeatable(call, readWritten(shows));
    },
  };
}

/** Section 4.2: `send=false` only saves. A change of address is not repeatable: once it arrived, the old address no longer exists. */
export function isRepeatablePerson(body: JsonObject): boolean {
  return body["send"] === false && body["email_update"] === undefined && body["phone_number_update"] === undefined;
}

/** An id, or an address that was sent (4.2). */
function showsPerson(json: JsonObject, body: JsonObject): boolean {
  const sent = [
    ...identifiersOf(body, "email", "phone_number"),
    ...identifiersOf(body, "email_update", "phone_number_update"),
  ];
  return idText(json["id"]) !== "" || sent.some((identifier) => isNamed(json, identifier));
}

/** The same of the `person` in an answer about a member (4.9, 4.10), or of an answer that is the person. */
function showsMember(json: JsonObject, body: JsonObject): boolean {
  const person = isJsonObject(json["person"]) ? json["person"] : json;
  const sent = [...identifiersOf(body, "person_email", "person_phone_number")];
  return idText(person["id"]) !== "" || sent.some((identifier) => isNamed(person, identifier));
}
