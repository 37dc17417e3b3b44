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
  /** The body, unchanged; `splitRowTexts` splits it into the text of each row. */
  readonly text: string;
  /** Absolute URL of the next page of a cursor list; null on the last page. */
  readonly next: string | null;
  readonly serverTime: number | null;
  readonly headers?: Readonly<Record<string, string>>;
  /** Whether the server announces additional answers in a header. */
  readonly hasAnswers?: boolean;
}

export interface CallOptions {
  readonly signal?: AbortSignal;
  /** Only our own server supports this; others ignore it. */
  readonly expand?: readonly "before"[];
}

export interface IntentOptions extends CallOptions {
  readonly intentAt?: number;
  /** Called before look-ups, after a 2xx whose body doesn't confirm the write. */
  readonly onAccepted?: () => Promise<void>;
}

export interface LookUpOptions extends CallOptions {
  readonly intentAt: number;
  readonly sentBy?: number;
}

export type WriteResult =
  /** `lostBefore` is true if an earlier attempt may also have arrived. */
  | { readonly kind: "answered"; readonly reply: ApiReply; readonly lostBefore: boolean }
  /** A look-up proved that the write arrived; `evidence` is one sentence. */
  | { readonly kind: "arrived"; readonly evidence: string; readonly found: JsonObject }
  /** No look-up could settle it. Don't repeat this write blindly. */
  | { readonly kind: "unknown"; readonly error: UnknownOutcomeError };

export interface Client {
  readonly baseUrl: string;

  /** Throws `ReadOnlyKeyError`. Every write calls it first. */
  checkMayWrite(): void;

  call(request: {
    readonly route: Route;
    readonly placeholders?: Readonly<Record<string, string>>;
    readonly parameters?: Parameters;
    readonly body?: JsonObject;
    readonly signal?: AbortSignal;
  }): Promise<ApiReply>;

  /** `next` comes from the previous page of a cursor list. */
  page(request: {
    readonly route: Route;
    readonly placeholders?: Readonly<Record<string, string>>;
    readonly parameters: Parameters;
    readonly next?: string;
    readonly signal?: AbortSignal;
  }): Promise<Page>;

  /** Yields the pages of a list (section 4) in order. Throws if the pages loop. */
  listPeople(parameters: Parameters, options?: CallOptions): AsyncGenerator<Page>;
  listResponses(parameters: Parameters, options?: CallOptions): AsyncGenerator<Page>;
  listBounces(parameters: Parameters, options?: CallOptions): AsyncGenerator<Page>;
  listUnsubscribes(parameters: Parameters, options?: CallOptions): AsyncGenerator<Page>;
  listMembers(platform: Platform, parameters: Parameters, options?: CallOptions): AsyncGenerator<Page>;

  getMetrics(parameters: Parameters, options?: CallOptions): Promise<ApiReply>;
  getAutopilot(platform: Platform, options?: CallOptions): Promise<ApiReply>;
  getResponse(id: string, parameters: Parameters, options?: CallOptions): Promise<ApiReply>;

  /**
   * A write that may have arrived is never repeated, only looked up until the settling time is over. `intentAt` is at
   * or before the first attempt, in Unix seconds by the server's clock (default: now). Rejects if the request was
   * refused or not sent (see `effectOf`). A repeatable write (`send=false`, Autopilot) rejects with its last error.
   */
  sendPerson(body: JsonObject, options?: IntentOptions): Promise<WriteResult>;
  addResponse(body: JsonObject, options?: IntentOptions): Promise<WriteResult>;
  addMember(platform: Platform, body: JsonObject, options?: CallOptions): Promise<WriteResult>;
  removeMember(platform: Platform, body: JsonObject, options?: CallOptions): Promise<WriteResult>;
  /** For writes that are safe to repeat, such as deletions. */
  change(request: {
    readonly route: Route;
    readonly placeholders?: Readonly<Record<string, string>>;
    readonly body?: JsonObject;
    readonly signal?: AbortSignal;
  }): Promise<WriteResult>;

  /**
   * Finds out whether a write arrived, without sending it again. `intentAt` is at or before its first attempt and
   * `sentBy` at or after its last (default: `intentAt`), in Unix seconds by the server's clock. Looks again until the
   * settling time after `sentBy` is over. Throws the errors of its own requests.
   */
  lookUpPerson(body: JsonObject, options: LookUpOptions): Promise<Settlement>;
  lookUpResponse(body: JsonObject, options: LookUpOptions): Promise<Settlement>;

  /** Unix seconds by the server's clock, or by ours until the first response arrives. */
  readonly serverNow: () => number;

  /** Returns any response but a redirect, unchanged. `url` is absolute, on the base URL's origin. */
  raw(request: {
    readonly method: string;
    readonly url: string;
    readonly body?: string;
    readonly signal?: AbortSignal;
  }): Promise<{
    readonly status: number;
    readonly headers: Readonly<Record<string, string>>;
    readonly text: string;
    /** The error that other methods would reject with; null for a 2xx. */
    readonly failure: ClientError | null;
  }>;

  close(): Promise<void>;
}
