import type { JsonObject } from "../../contract/json.ts";
import { ROUTES } from "../../contract/routes.ts";
import type { Caller } from "../call/caller.ts";
import type { CallOptions, Client, WriteResult } from "../client.ts";
import { lookUpPerson, lookUpResponse, type LookUp } from "./look-up.ts";
import type { Requests, RouteCall } from "../requests.ts";
import type { ServerClock } from "./server-clock.ts";
import { performWrite } from "./writes.ts";

export type WriteMethods = Pick<
  Client,
  | "sendPerson"
  | "addResponse"
  | "addMember"
  | "removeMember"
  | "unsubscribe"
  | "deletePerson"
  | "cancelSurveys"
  | "updateResponse"
  | "updateResponseByBody"
>;

interface Tools {
  readonly caller: Caller;
  readonly requests: Requests;
  readonly pages: Pick<Client, "page" | "baseUrl">;
  readonly serverClock: ServerClock;
}

type IntentOptions = CallOptions & { readonly intentAt?: number };

/** The writes of `Client`; those that a repeat could harm come with their look-up. */
export function createWriteMethods({ caller, requests, pages, serverClock }: Tools): WriteMethods {
  const repeatable = async (call: RouteCall): Promise<WriteResult> =>
    await performWrite(caller, { request: requests.ofRoute(call), idempotent: call.route.idempotent });
  const lookUpFor = ({ intentAt, signal }: IntentOptions): LookUp => {
    const own = serverClock.ownNow();
    return { client: pages, intentAt: () => intentAt ?? serverClock.at(own), signal };
  };

  return {
    sendPerson: async (body, options = {}) => {
      const lookUp = lookUpFor(options);
      const request = requests.ofRoute({ route: ROUTES.sendPerson, body, signal: options.signal });
      return await performWrite(caller, {
        request,
        idempotent: isRepeatablePerson(body),
        lookUp: () => lookUpPerson(body, lookUp),
      });
    },
    addResponse: async (body, options = {}) => {
      const lookUp = lookUpFor(options);
      const request = requests.ofRoute({ route: ROUTES.addResponse, body, signal: options.signal });
      return await performWrite(caller, {
        request,
        idempotent: false,
        unsafeWhenLate: true,
        lookUp: () => lookUpResponse(body, lookUp),
      });
    },
    addMember: async (platform, body, { signal } = {}) =>
      await repeatable({ route: ROUTES.addMember, placeholders: { platform }, body, signal }),
    removeMember: async (platform, body, { signal } = {}) =>
      await repeatable({ route: ROUTES.removeMember, placeholders: { platform }, body, signal }),
    unsubscribe: async (body, { signal } = {}) => await repeatable({ route: ROUTES.unsubscribe, body, signal }),
    deletePerson: async (person, { signal } = {}) =>
      await repeatable({ route: ROUTES.deletePerson, placeholders: { person }, signal }),
    cancelSurveys: async (email, { signal } = {}) =>
      await repeatable({ route: ROUTES.cancelSurveys, placeholders: { email }, signal }),
    updateResponse: async (id, body, { signal } = {}) =>
      await repeatable({ route: ROUTES.updateResponse, placeholders: { id }, body, signal }),
    updateResponseByBody: async (body, { signal } = {}) =>
      await repeatable({ route: ROUTES.updateResponseByBody, body, signal }),
  };
}

/** Section 4.2: `send=false` only saves. A change of address does not: once it arrived, its repeat names nobody. */
export function isRepeatablePerson(body: JsonObject): boolean {
  return body["send"] === false && body["email_update"] === undefined && body["phone_number_update"] === undefined;
}
