/** The sending of events to webhooks. */
import { createDispatcher, type Dispatcher } from "../webhook/dispatcher.ts";
import type { Base } from "./base.ts";
import type { Part } from "./part.ts";

/** Of several processes the one that `mayStart` sends. */
export function createWebhooks(base: Base, mayStart: () => boolean): Dispatcher & Part {
  const { address, signals, failures } = base;
  const dispatcher = createDispatcher({ ...base, own: address.own, mayStart, onError: failures.add });
  signals.events.answer(dispatcher.wake);
  return dispatcher;
}
