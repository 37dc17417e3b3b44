import {
  createHttpService,
  createKeys,
  type HttpHandler,
  type HttpService,
  type PathHandler,
  type ServerExchange,
} from "../http/create-http-service.ts";
import type { KeyRing } from "../http/authentication.ts";
import type { Dispatcher } from "../webhook/dispatcher.ts";
import type { Base } from "./base.ts";
import type { Senders } from "./senders.ts";

export interface Http extends Omit<HttpService, "handleOperators"> {
  /** Metrics and health, for a separate listener. */
  readonly operators: HttpHandler;
  readonly setReady: (isReady: boolean) => void;
}

export interface HttpParts {
  readonly keys: KeyRing;
  readonly senders: Senders;
  /** Absent in a process that sends no events. */
  readonly webhooks?: Pick<Dispatcher, "attempts">;
  readonly handlers?: readonly PathHandler[];
}

export function createHttp(base: Base, { keys, senders, webhooks, handlers = [] }: HttpParts): Http {
  const { options, store, signals, metrics, deliveries, process } = base;
  const state = { isReady: true };
  const { handle, handleLocally, handleOperators, refuse } = createHttpService({
    ...options,
    store,
    keys,
    handlers,
    outboxChannels: senders.outboxChannels,
    onScheduled: signals.due.call,
    moreMetrics: () => {
      const webhookAttempts = webhooks?.attempts() ?? new Map();
      return metrics.lines({ store, deliveries, senders: { own: senders.paced, process }, webhookAttempts });
    },
    isReady: () => state.isReady && store.trouble() === null,
  });
  /** A deleted person's messages go too. */
  const wakingAfterDelete =
    (exchange: ServerExchange): ServerExchange =>
    async (request) => {
      const response = await exchange(request);
      if (request.method === "DELETE") signals.due.call();
      return response;
    };
  return {
    handle: wakingAfterDelete(handle),
    handleLocally: wakingAfterDelete(handleLocally),
    operators: { handle: handleOperators, refuse },
    refuse,
    setReady: (isReady) => {
      state.isReady = isReady;
    },
  };
}

export function openKeys({ options, store, clock }: Base): KeyRing {
  return createKeys(store, clock, options.rateLimit);
}
