/** What arrives, by mail or text, and whether it should have. */
import type { Channel } from "../../../src/contract/routes.ts";
import { add, type Ledger, type SentMessage } from "../checks/ledger.ts";
import type { Trace } from "./trace.ts";

export interface Receipt {
  /** The service was told that it arrived. */
  readonly know: () => void;
}

/** One message on its way. */
export interface Departure {
  /** The service is about to be asked for its mark. */
  readonly mark: () => void;
  /** The last byte was taken. */
  readonly arrive: (text: string) => Receipt;
}

export interface Postbox {
  /** Called before the service is asked whether the message may still go. */
  readonly begin: (channel: Channel, address: string) => Departure;
}

export interface PostboxOptions {
  readonly ledger: Ledger;
  readonly trace: Trace;
  readonly now: () => number;
  /** The project that an address belongs to. */
  readonly projectOf: (address: string) => string;
  /** Whether a survey may come twice after one whose end is unknown. */
  readonly mayRepeat: (token: string) => boolean;
  readonly onArrival: (message: SentMessage, text: string) => void;
}

const TOKEN = /\/s\/([\w-]{16,64})/;
const MESSAGE_ID = /^Message-ID: <([^>]+)>/im;

export function createPostbox(options: PostboxOptions): Postbox {
  const { ledger, trace, now } = options;
  return {
    begin: (channel, address) => {
      const project = options.projectOf(address);
      const isPaused = ledger.pauses.isSurely(project, "paused") || ledger.pauses.isSurely("*", "paused");
      const key = `${project}/${channel}/${address}`;
      const state = { mayReach: true, isWanted: true };
      return {
        mark: () => {
          state.mayReach = ledger.reach.values(key).has("open");
          state.isWanted = ledger.wanted.values(`${project}/${address}`).has("asked");
        },
        arrive: (text) => {
          const token = TOKEN.exec(text.replaceAll("=\r\n", ""))?.[1] ?? "";
          const messageId = MESSAGE_ID.exec(text)?.[1] ?? null;
          const message: SentMessage = { address, token, messageId, atMs: now(), isKnown: false };
          trace.add(`${channel} to ${address}`);
          trace.count(channel === "email" ? "mails" : "texts");
          if (token === "") ledger.violate(`a message to ${address} names no survey`);
          const before = ledger.messages.get(token) ?? [];
          if (before.length > 0 && !options.mayRepeat(token)) ledger.violate(`${address} got one survey twice`);
          if (before.some((one) => one.address !== address)) ledger.violate(`${address} got the survey of another`);
          if (!state.mayReach) ledger.violate(`${address} got a message after ${[...ledger.reach.values(key)].join()}`);
          if (!state.isWanted) ledger.violate(`${address} got a message that nobody asked for, or after being erased`);
          if (isPaused) ledger.violate(`${address} got a message while ${project} was paused`);
          add(ledger.messages, token, message);
          options.onArrival(message, text);
          return { know: () => void (message.isKnown = true) };
        },
      };
    },
  };
}
