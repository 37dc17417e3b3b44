/** Checks each mail and text that arrives. */
import type { Channel } from "../../../src/contract/routes.ts";
import { add, type Ledger, type SentMessage } from "../checks/ledger.ts";
import { kindOf, type Leaving, type Pacing } from "../checks/pacing.ts";
import type { Trace } from "./trace.ts";

export interface Receipt {
  /** The service has got the reply. */
  readonly know: () => void;
}

/** A message in transit, as seen by a server. */
export interface Departure {
  /** The service is about to confirm that the message may be sent. */
  readonly ask: () => void;
  /** The service has confirmed it. */
  readonly talk: () => void;
  /** The mailbox doesn't exist, and the service gets that reply. */
  readonly bounce: () => void;
  /** The service is about to record that the message is being sent. */
  readonly mark: () => void;
  /** The last byte has been accepted. */
  readonly arrive: () => Receipt;
  readonly end: () => void;
}

export interface Postbox {
  readonly begin: (channel: Channel, address: string, text: string) => Departure;
  /** All processes with open connections are dead. */
  readonly hangUp: () => void;
}

export interface PostboxOptions {
  readonly ledger: Ledger;
  readonly trace: Trace;
  readonly now: () => number;
  readonly projectOf: (address: string) => string;
  /** Whether a survey may arrive again after these. */
  readonly mayRepeat: (before: readonly SentMessage[]) => boolean;
  /** Minimum milliseconds between two surveys to an address; 0 for none. */
  readonly throttleMs: (address: string) => number;
  readonly pacing: Pacing;
  readonly onArrival: (message: SentMessage, text: string) => void;
}

const TOKEN = /\/s\/([\w-]{16,64})/;
const MESSAGE_ID = /^Message-ID: <([^>]+)>/im;

export function createPostbox(options: PostboxOptions): Postbox {
  const { ledger } = options;
  const talking = new Set<string>();
  return {
    hangUp: () => talking.clear(),
    begin: (channel, address, text) => {
      const project = options.projectOf(address);
      const key = `${project}/${channel}/${address}`;
      const token = TOKEN.exec(text.replaceAll("=\r\n", ""))?.[1] ?? "";
      const leaving: Leaving = { kind: kindOf(text), project, channel, address, token };
      const messageId = MESSAGE_ID.exec(text)?.[1] ?? null;
      const state = {
        isPaused: false,
        mayReach: true,
        isWanted: true,
        isTalking: false,
        unwanted: null as string | null,
      };
      return {
        ask: () => {
          state.isPaused = ledger.pauses.isSurely(project, "paused") || ledger.pauses.isSurely("*", "paused");
        },
        talk: () => {
          if (talking.has(token)) ledger.violate(`two connections carry the same survey to ${address}`);
          options.pacing.talk(leaving);
          talking.add(token);
          state.isTalking = true;
        },
        // If the process dies before it is recorded, the service doesn't know about it.
        bounce: () => ledger.reach.begin(key, "bounced")("unknown"),
        mark: () => {
          state.unwanted = options.pacing.refuse(leaving);
          state.mayReach = ledger.reach.values(key).has("open");
          state.isWanted = ledger.wanted.values(`${project}/${address}`).has("asked");
        },
        arrive: () => {
          const message = { address, token, messageId, atMs: options.now(), isKnown: false };
          const isReminder = leaving.kind === "reminder";
          options.trace.add(`${isReminder ? "reminder by " : ""}${channel} to ${address}`);
          options.trace.count(isReminder ? "reminders" : channel === "email" ? "mails" : "texts");
          options.pacing.arrive(leaving, message);
          checkMessage(options, message, isReminder);
          if (!state.mayReach) ledger.violate(`${address} got a message after ${[...ledger.reach.values(key)].join()}`);
          if (!state.isWanted) ledger.violate(`${address} got a message that nobody asked for, or after being erased`);
          if (state.unwanted !== null) ledger.violate(`${address} was reminded ${state.unwanted}`);
          if (state.isPaused) ledger.violate(`${address} got a message while ${project} was paused`);
          if (!isReminder) add(ledger.messages, token, message);
          options.onArrival(message, text);
          return { know: () => void (message.isKnown = true) };
        },
        end: () => {
          if (state.isTalking) talking.delete(token);
        },
      };
    },
  };
}

function checkMessage(
  { ledger, mayRepeat, throttleMs }: PostboxOptions,
  { address, token, atMs }: SentMessage,
  isReminder: boolean,
): void {
  if (token === "") ledger.violate(`a message to ${address} names no survey`);
  const before = ledger.messages.get(token) ?? [];
  if (before.some((one) => one.address !== address)) ledger.violate(`${address} got the survey of another`);
  // Reminders ignore the throttle.
  if (isReminder) return;
  if (before.length > 0 && !mayRepeat(before)) ledger.violate(`${address} got one survey twice`);
  const others = [...ledger.messages.values()].flat().filter((one) => one.address === address && one.token !== token);
  const last = Math.max(0, ...others.map((one) => one.atMs));
  if (atMs - last < throttleMs(address)) ledger.violate(`${address} got two surveys within ${atMs - last} ms`);
}
