import { createDispatcher, type Dispatcher } from "../webhook/dispatcher.ts";
import type { Base } from "./base.ts";
import type { Part } from "./part.ts";

/** `mayStart` is true in the one process that sends. */
export function createWebhooks(base: Base, mayStart: () => boolean): Dispatcher & Part {
  const { address, signals, failures } = base;
  const dispatcher = createDispatcher({ ...base, own: address.own, mayStart, onError: failures.add });
  signals.events.answer(dispatcher.wake);
  return dispatcher;
}
