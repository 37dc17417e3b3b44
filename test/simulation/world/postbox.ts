/** What arrives, by mail or text, and whether it should have. */
import type { Channel } from "../../../src/contract/routes.ts";
import { add, type Ledger, type SentMessage } from "../checks/ledger.ts";
import type { Trace } from "./trace.ts";

export interface Receipt {
  /** The service was told that it arrived. */
  readonly know: () => void;
}

/** One message on its way, as a server meets it. */
export interface Departure {
  /** The service is about to be asked whether the message may still go. */
  readonly ask: () => void;
  /** It may, and the server hears of it. */
  readonly talk: () => void;
  /** Nobody has the address, and the service is told. */
  readonly bounce: () => void;
  /** The service is about to be asked for its mark. */
  readonly mark: () => void;
  /** The last byte was taken. */
  readonly arrive: () => Receipt;
  /** Nothing more is said about it. */
  readonly end: () => void;
}

export interface Postbox {
  readonly begin: (channel: Channel, address: string, text: string) => Departure;
  /** Whoever was talking to servers is dead. */
  readonly hangUp: () => void;
}

export interface PostboxOptions {
  readonly ledger: Ledger;
  readonly trace: Trace;
  readonly now: () => number;
  /** The project that an address belongs to. */
  readonly projectOf: (address: string) => string;
  /** Whether a survey may come once more after these. */
  readonly mayRepeat: (before: readonly SentMessage[]) => boolean;
  /** Milliseconds that have to pass between two surveys to an address; 0 for none. */
  readonly throttleMs: (address: string) => number;
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
      const messageId = MESSAGE_ID.exec(text)?.[1] ?? null;
      const state = { isPaused: false, mayReach: true, isWanted: true, isTalking: false };
      return {
        ask: () => {
          state.isPaused = ledger.pauses.isSurely(project, "paused") || ledger.pauses.isSurely("*", "paused");
        },
        talk: () => {
          if (talking.has(token)) ledger.violate(`two connections carry the same survey to ${address}`);
          talking.add(token);
          state.isTalking = true;
        },
        // Until it is recorded, a death may make the service forget it.
        bounce: () => ledger.reach.begin(key, "bounced")("unknown"),
        mark: () => {
          state.mayReach = ledger.reach.values(key).has("open");
          state.isWanted = ledger.wanted.values(`${project}/${address}`).has("asked");
        },
        arrive: () => {
          const message = { address, token, messageId, atMs: options.now(), isKnown: false };
          options.trace.add(`${channel} to ${address}`);
          options.trace.count(channel === "email" ? "mails" : "texts");
          checkMessage(options, message);
          if (!state.mayReach) ledger.violate(`${address} got a message after ${[...ledger.reach.values(key)].join()}`);
          if (!state.isWanted) ledger.violate(`${address} got a message that nobody asked for, or after being erased`);
          if (state.isPaused) ledger.violate(`${address} got a message while ${project} was paused`);
          add(ledger.messages, token, message);
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

function checkMessage({ ledger, mayRepeat, throttleMs }: PostboxOptions, { address, token, atMs }: SentMessage): void {
  if (token === "") ledger.violate(`a message to ${address} names no survey`);
  const before = ledger.messages.get(token) ?? [];
  if (before.length > 0 && !mayRepeat(before)) ledger.violate(`${address} got one survey twice`);
  if (before.some((one) => one.address !== address)) ledger.violate(`${address} got the survey of another`);
  const others = [...ledger.messages.values()].flat().filter((one) => one.address === address && one.token !== token);
  const last = Math.max(0, ...others.map((one) => one.atMs));
  if (atMs - last < throttleMs(address)) ledger.violate(`${address} got two surveys within ${atMs - last} ms`);
}
