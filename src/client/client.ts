/** The typed client of the API; `createClient` builds it over one transport. */
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
  /** The service's clock (`Date` header), Unix seconds; null when it sends none. */
  readonly serverTime: number | null;
}

export interface Page {
  readonly rows: readonly JsonObject[];
  /** The body as it came: `splitRowTexts(page.text)` gives each row's own text, lossless. */
  readonly text: string;
  /**
   * Absolute URL of the next page of a cursor list, already checked to lie on the base URL's origin; null on the last.
   */
  readonly next: string | null;
  readonly serverTime: number | null;
  readonly headers?: Readonly<Record<string, string>>;
  /** True when the service says that responses have additional answers; not every service says so. */
  readonly hasAnswers?: boolean;
}

export interface CallOptions {
  readonly signal?: AbortSignal;
}

export interface IntentOptions extends CallOptions {
  readonly intentAt?: number;
  /** Called when a 2xx came that does not show what was written; look-ups begin when it resolves. */
  readonly onAccepted?: () => Promise<void>;
}

export interface LookUpOptions extends CallOptions {
  readonly intentAt: number;
  readonly sentBy?: number;
}

export type WriteResult =
  /** The service answered 2xx with a body that could be read. `lostBefore`: an earlier try may have arrived as well. */
  | { readonly kind: "answered"; readonly reply: ApiReply; readonly lostBefore: boolean }
  /** The answer was lost; a look-up proved that the write arrived. `evidence` is one sentence. */
  | { readonly kind: "arrived"; readonly evidence: string; readonly found: JsonObject }
  /** The answer was lost and nothing could settle it until the settling time was over: never repeat this blindly. */
  | { readonly kind: "unknown"; readonly error: UnknownOutcomeError };

export interface Client {
  readonly baseUrl: string;

  /** Throws `ReadOnlyKeyError` when the key is known to read only; every write throws it too, and sends nothing. */
  checkMayWrite(): void;

  /** Any endpoint, once parsed; retried by the policy. */
  call(request: {
    readonly route: Route;
    readonly placeholders?: Readonly<Record<string, string>>;
    readonly parameters?: Parameters;
    readonly body?: JsonObject;
    readonly signal?: AbortSignal;
  }): Promise<ApiReply>;

  /** One page of any list; `page` for page-numbered lists, `next` (of the previous page) for cursor lists. */
  page(request: {
    readonly route: Route;
    readonly placeholders?: Readonly<Record<string, string>>;
    readonly parameters: Parameters;
    readonly next?: string;
    readonly signal?: AbortSignal;
  }): Promise<Page>;

  /** Lists, section 4: pages in order, as an async generator that ends by itself and refuses loops. */
  listPeople(parameters: Parameters, options?: CallOptions): AsyncGenerator<Page>;
  listResponses(parameters: Parameters, options?: CallOptions): AsyncGenerator<Page>;
  listBounces(parameters: Parameters, options?: CallOptions): AsyncGenerator<Page>;
  listUnsubscribes(parameters: Parameters, options?: CallOptions): AsyncGenerator<Page>;
  listMembers(platform: Platform, parameters: Parameters, options?: CallOptions): AsyncGenerator<Page>;

  getMetrics(parameters: Parameters, options?: CallOptions): Promise<ApiReply>;
  getAutopilot(platform: Platform, options?: CallOptions): Promise<ApiReply>;
  getResponse(id: string, parameters: Parameters, options?: CallOptions): Promise<ApiReply>;

  /**
   * Writes. One that may have arrived is looked up until the settling time is over, and never repeated meanwhile.
   * `intentAt` is the service's time, Unix seconds, at or before the first try (default: the moment of the call). They
   * reject with what refused the request or kept it from being sent; `effectOf(error)` tells which. The repeatable ones
   * (`send=false`, Autopilot) also reject with what their last repeat failed with.
   */
  sendPerson(body: JsonObject, options?: IntentOptions): Promise<WriteResult>;
  addResponse(body: JsonObject, options?: IntentOptions): Promise<WriteResult>;
  addMember(platform: Platform, body: JsonObject, options?: CallOptions): Promise<WriteResult>;
  removeMember(platform: Platform, body: JsonObject, options?: CallOptions): Promise<WriteResult>;
  /** A write of any endpoint that a repeat cannot harm: a deletion, an unsubscribe. */
  change(request: {
    readonly route: Route;
    readonly placeholders?: Readonly<Record<string, string>>;
    readonly body?: JsonObject;
    readonly signal?: AbortSignal;
  }): Promise<WriteResult>;

  /**
   * Tells whether a write whose answer was lost arrived, without sending anything: by the service's clock, Unix
   * seconds, `intentAt` at or before its first try, `sentBy` at or after its last (default: `intentAt`). While the
   * settling time after `sentBy` is not over, it looks again: what is absent after that did not arrive. Throws what the
   * look-up's own requests throw.
   */
  lookUpPerson(body: JsonObject, options: LookUpOptions): Promise<Settlement>;
  lookUpResponse(body: JsonObject, options: LookUpOptions): Promise<Settlement>;

  /** Unix seconds by the service's clock, as far as its answers show it (else by ours): for `intentAt`. */
  readonly serverNow: () => number;

  /**
   * Raw call for `api`: the answer as it came, whatever its status but a redirect. `url` is absolute and on the base
   * URL's origin.
   */
  raw(request: {
    readonly method: string;
    readonly url: string;
    readonly body?: string;
    readonly signal?: AbortSignal;
  }): Promise<{
    readonly status: number;
    readonly headers: Readonly<Record<string, string>>;
    readonly text: string;
    /** The error of a status outside 2xx, as the other methods would reject with it; null when all is well. */
    readonly failure: ClientError | null;
  }>;

  close(): Promise<void>;
}
