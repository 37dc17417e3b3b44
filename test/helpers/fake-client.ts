import type { Client, Page, Parameters, ApiReply, WriteResult } from "../../src/client/client.ts";
import type { JsonObject } from "../../src/contract/json.ts";

export const BASE_URL = "https://survey.example.com";

export interface Recorded {
  readonly call: string;
  readonly parameters: unknown;
}

export interface FakeClient {
  readonly client: Partial<Client>;
  readonly calls: Recorded[];
}

export interface Answers {
  readonly pages?: readonly (readonly JsonObject[])[];
  readonly cursor?: boolean;
  readonly write?: WriteResult;
  readonly metrics?: (parameters: Parameters) => JsonObject;
  readonly autopilot?: JsonObject;
  readonly response?: () => JsonObject;
}

export function asReply(json: JsonObject): ApiReply {
  return { status: 200, headers: {}, text: JSON.stringify(json), json, serverTime: null };
}

export function answered(json: JsonObject): WriteResult {
  return { kind: "answered", reply: asReply(json), lostBefore: false };
}

export function fakeClient({
  pages = [[]],
  cursor = true,
  write,
  metrics,
  autopilot,
  response,
}: Answers = {}): FakeClient {
  const calls: Recorded[] = [];
  const list = (call: string) =>
    async function* walk(...given: unknown[]): AsyncGenerator<Page> {
      for (const [index, rows] of pages.entries()) {
        calls.push({ call: index === 0 ? call : `${call} again`, parameters: withoutOptions(given) });
        const next = cursor && index < pages.length - 1 ? `${BASE_URL}/next` : null;
        yield { rows, text: JSON.stringify(rows), next, serverTime: null };
      }
    };
  const writes =
    (call: string) =>
    async (...given: unknown[]): Promise<WriteResult> => {
      calls.push({ call, parameters: withoutOptions(given) });
      if (write === undefined) throw new Error(`${call} was not expected`);
      return write;
    };
  const client: Partial<Client> = {
    baseUrl: BASE_URL,
    listPeople: list("listPeople"),
    listResponses: list("listResponses"),
    listBounces: list("listBounces"),
    listUnsubscribes: list("listUnsubscribes"),
    listMembers: list("listMembers"),
    sendPerson: writes("sendPerson"),
    addResponse: writes("addResponse"),
    addMember: writes("addMember"),
    removeMember: writes("removeMember"),
    async getMetrics(parameters) {
      calls.push({ call: "getMetrics", parameters });
      return asReply(metrics?.(parameters) ?? {});
    },
    async getResponse(id, parameters) {
      calls.push({ call: "getResponse", parameters: { id, ...parameters } });
      return asReply(response?.() ?? {});
    },
    async getAutopilot(platform) {
      calls.push({ call: "getAutopilot", parameters: platform });
      return asReply({ platform_id: platform, ...autopilot });
    },
  };
  return { client, calls };
}

/** Drops the last argument, which holds the signal, and unwraps a single one. */
function withoutOptions(given: readonly unknown[]): unknown {
  const kept = given.slice(0, -1);
  return kept.length === 1 ? kept[0] : kept;
}
