import type { JsonObject } from "../contract/json.ts";
import type { Platform } from "../contract/resources.ts";
import type { Route } from "../contract/routes.ts";
import type { QueryValue } from "../contract/brackets.ts";
import type { ClientError } from "./errors/client-error.ts";
import type { UnknownOutcomeError } from "./errors/call-errors.ts";
import type { Settlement } from "./write/evidence.ts";

export type Parameters = Readonly<Record<string, QueryValue>>;

export interface ApiReply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly text: string;
  readonly json: JsonObject;
  /** The `Date` header in Unix seconds, or null. */
  readonly serverTime: number | null;
}

export interface Page {
  readonly rows: readonly JsonObject[];
  /** The body, unchanged: `splitRowTexts(page.text)` gives each row's own text. */
  readonly text: string;
  /** Absolute URL of the next page of a cursor list, on the base URL's origin; null on the last. */
  readonly next: string | null;
  readonly serverTime: number | null;
  readonly headers?: Readonly<Record<string, string>>;
  /** Set by servers that announce additional answers. */
  readonly hasAnswers?: boolean;
}

export interface CallOptions {
  readonly signal?: AbortSignal;
}

export interface IntentOptions extends CallOptions {
  readonly intentAt?: number;
  /** Called after a 2xx that doesn't show the write; look-ups begin when it resolves. */
  readonly onAccepted?: () => Promise<void>;
}

export interface LookUpOptions extends CallOptions {
  readonly intentAt: number;
  readonly sentBy?: number;
}

export type WriteResult =
  /** A readable 2xx. `lostBefore`: an earlier attempt may have arrived as well. */
  | { readonly kind: "answered"; readonly reply: ApiReply; readonly lostBefore: boolean }
  /** The answer was lost, and a look-up proved that the write arrived. `evidence` is one sentence. */
  | { readonly kind: "arrived"; readonly evidence: string; readonly found: JsonObject }
  /** The answer was lost, and no look-up could settle it: never repeat this blindly. */
  | { readonly kind: "unknown"; readonly error: UnknownOutcomeError };

export interface Client {
  readonly baseUrl: string;

  /** Throws `ReadOnlyKeyError` if the key is known to be read-only, as every write does. */
  checkMayWrite(): void;

  /** Any endpoint that answers with an object. */
  call(request: {
    readonly route: Route;
    readonly placeholders?: Readonly<Record<string, string>>;
    readonly parameters?: Parameters;
    readonly body?: JsonObject;
    readonly signal?: AbortSignal;
  }): Promise<ApiReply>;

  /** One page of any list; `next` is that of the previous page of a cursor list. */
  page(request: {
    readonly route: Route;
    readonly placeholders?: Readonly<Record<string, string>>;
    readonly parameters: Parameters;
    readonly next?: string;
    readonly signal?: AbortSignal;
  }): Promise<Page>;

  /** Pages of the lists of section 4, in order; loops are refused. */
  listPeople(parameters: Parameters, options?: CallOptions): AsyncGenerator<Page>;
  listResponses(parameters: Parameters, options?: CallOptions): AsyncGenerator<Page>;
  listBounces(parameters: Parameters, options?: CallOptions): AsyncGenerator<Page>;
  listUnsubscribes(parameters: Parameters, options?: CallOptions): AsyncGenerator<Page>;
  listMembers(platform: Platform, parameters: Parameters, options?: CallOptions): AsyncGenerator<Page>;

  getMetrics(parameters: Parameters, options?: CallOptions): Promise<ApiReply>;
  getAutopilot(platform: Platform, options?: CallOptions): Promise<ApiReply>;
  getResponse(id: string, parameters: Parameters, options?: CallOptions): Promise<ApiReply>;

  /**
   * Writes that may have arrived are looked up until the settling time is over, and not repeated. `intentAt` is the
   * server's time in Unix seconds, at or before the first attempt (default: now). Rejects if the request was refused or
   * not sent (see `effectOf`), and with the last error of a repeatable write (`send=false`, Autopilot).
   */
  sendPerson(body: JsonObject, options?: IntentOptions): Promise<WriteResult>;
  addResponse(body: JsonObject, options?: IntentOptions): Promise<WriteResult>;
  addMember(platform: Platform, body: JsonObject, options?: CallOptions): Promise<WriteResult>;
  removeMember(platform: Platform, body: JsonObject, options?: CallOptions): Promise<WriteResult>;
  /** A write that is safe to repeat, such as a deletion. */
  change(request: {
    readonly route: Route;
    readonly placeholders?: Readonly<Record<string, string>>;
    readonly body?: JsonObject;
    readonly signal?: AbortSignal;
  }): Promise<WriteResult>;

  /**
   * Whether a write whose answer was lost arrived, without sending it again. `intentAt` is at or before its first
   * attempt, `sentBy` at or after its last (default: `intentAt`), in Unix seconds of the server's clock. Looks again
   * until the settling time after `sentBy` is over. Throws what the look-up's own requests throw.
   */
  lookUpPerson(body: JsonObject, options: LookUpOptions): Promise<Settlement>;
  lookUpResponse(body: JsonObject, options: LookUpOptions): Promise<Settlement>;

  /** Unix seconds by the server's clock, or by ours until an answer has come. */
  readonly serverNow: () => number;

  /** The answer unchanged, whatever its status except a redirect. `url` is absolute and on the base URL's origin. */
  raw(request: {
    readonly method: string;
    readonly url: string;
    readonly body?: string;
    readonly signal?: AbortSignal;
  }): Promise<{
    readonly status: number;
    readonly headers: Readonly<Record<string, string>>;
    readonly text: string;
    /** What the other methods would reject with; null for a 2xx. */
    readonly failure: ClientError | null;
  }>;

  close(): Promise<void>;
}
