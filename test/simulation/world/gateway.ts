/** The SMS gateway, connected to the service's sender of texts. */
import type { Clock } from "../../../src/runtime/clock.ts";
import type { GatewayReply } from "../../../src/service/delivery/sms/gateway-transport.ts";
import { readGatewayAnswer } from "../../../src/service/delivery/sms/gateway.ts";
import type { SmsMessage } from "../../../src/service/delivery/sms/providers/provider.ts";
import type { CarrierResult } from "../../../src/service/delivery/carrier.ts";
import type { Departure, Postbox } from "./postbox.ts";
import type { Chance } from "./chance.ts";
import type { TextTransport } from "../seams/seams.ts";
import type { Weather } from "./weather.ts";

export const TEXT_SPELLS = ["down", "busy", "cut", "stall"] as const;
export const TEXT_MISHAPS = ["cut", "busy", "stall", "lose"] as const;
export type TextMode = (typeof TEXT_SPELLS)[number] | (typeof TEXT_MISHAPS)[number];

export interface GatewayOptions {
  readonly chance: Chance;
  readonly weather: Weather<TextMode>;
  readonly postbox: Postbox;
}

type Result = CarrierResult<GatewayReply>;

const STAGE = "gateway";
const STALL_MS = 59_000;
const NO_ANSWER = { status: 0, text: "", retryAfter: null } as const;

export function createGateway({ chance, weather, postbox }: GatewayOptions): (clock: Clock) => TextTransport {
  return (clock) => {
    const exchange = async (
      message: SmsMessage,
      departure: Departure,
      progress: Parameters<TextTransport["send"]>[1],
    ): Promise<Result> => {
      const mode = weather.now();
      departure.ask();
      if (!(await progress.mayStillSend())) return { kind: "withdrawn" };
      departure.talk();
      await clock.sleep(chance.whole(1, 300));
      if (mode === "down") return broken("connect", false);
      departure.mark();
      await progress.transmitting();
      await clock.sleep(chance.whole(1, 200));
      const isTaken = mode !== "lose" && mode !== "busy";
      const receipt = isTaken ? departure.arrive() : null;
      await clock.sleep(mode === "stall" ? STALL_MS : chance.whole(1, 900));
      if (mode === "busy") return said(429, "slow down", 30);
      if (mode === "cut" || mode === "lose" || mode === "stall") return broken(STAGE, true);
      receipt?.know();
      return said(200, JSON.stringify({ id: message.id }), null);
    };
    return {
      send: async (message, progress) => {
        const departure = postbox.begin("sms", message.to, message.text);
        try {
          // Replies to texts contain no survey link.
          return await exchange(message, /\/s\//.test(message.text) ? departure : SILENT, progress);
        } finally {
          departure.end();
        }
      },
      close: () => Promise.resolve(),
    };
  };
}

const SILENT: Departure = {
  ask: () => undefined,
  talk: () => undefined,
  bounce: () => undefined,
  mark: () => undefined,
  arrive: () => ({ know: () => undefined }),
  end: () => undefined,
};

function said(status: number, text: string, retryAfter: number | null): Result {
  const meaning = readGatewayAnswer("json", { status, text, retryAfter });
  const reply = { stage: STAGE, code: status, enhancedCode: null, text, host: "texts.example", serverId: null, ms: 1 };
  return { kind: meaning.outcome === "sent" ? "accepted" : "refused", reply: { ...reply, meaning } };
}

/** The transport's own error for a closed connection. */
function broken(stage: string, isPastDot: boolean): Result {
  const { meaning } = (said(504, "", NO_ANSWER.retryAfter) as Extract<Result, { readonly kind: "refused" }>).reply;
  const outcome = isPastDot ? "unknown" : "retry";
  const words = { code: null, enhancedCode: null, text: "the connection broke", host: "texts.example", serverId: null };
  return { kind: "broken", isPastDot, reply: { stage, ...words, ms: 1, meaning: { ...meaning, outcome } } };
}
