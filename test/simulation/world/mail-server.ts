/** The mail server, connected to the service's mail sender. */
import type { Clock } from "../../../src/runtime/clock.ts";
import type { CarrierProgress } from "../../../src/service/delivery/carrier.ts";
import type { SmtpMessage, SmtpReply, SmtpResult, SmtpStage } from "../../../src/service/delivery/smtp/smtp-types.ts";
import type { MailTransport } from "../seams/seams.ts";
import type { Departure, Postbox } from "./postbox.ts";
import type { Chance } from "./chance.ts";
import type { Weather } from "./weather.ts";

export const MAIL_SPELLS = ["down", "busy", "quota", "greylist", "stall", "cut", "crawl", "locked", "relay"] as const;
export const MAIL_MISHAPS = ["cut", "lose", "busy", "greylist", "refuse", "stall"] as const;
export type MailMode = (typeof MAIL_SPELLS)[number] | (typeof MAIL_MISHAPS)[number];

export interface MailServerOptions {
  readonly chance: Chance;
  readonly weather: Weather<MailMode>;
  readonly postbox: Postbox;
  /** Whether the mailbox doesn't exist. */
  readonly isUnknown: (address: string) => boolean;
}

/** How each mode ends an exchange before the message's last byte. */
const REFUSALS: Readonly<Partial<Record<MailMode, readonly [SmtpStage, number, string | null, string]>>> = {
  locked: ["auth", 535, "5.7.8", "authentication failed"],
  relay: ["rcpt-to", 550, "5.7.1", "relay access denied"],
  busy: ["mail-from", 421, "4.3.2", "service not available, try again later"],
  quota: ["rcpt-to", 452, "4.5.3", "too many recipients today"],
  greylist: ["rcpt-to", 450, "4.2.0", "greylisted, come back later"],
  refuse: ["data", 554, "5.7.1", "message refused as spam"],
};
/** Just below the time limit for a reply. */
const CRAWL_MS = 400_000;
const STALL_MS = { command: 59_000, afterDot: 600_000 } as const;

export function createMailServer(options: MailServerOptions): (clock: Clock) => MailTransport {
  const { chance, weather, postbox } = options;
  return (clock) => {
    const exchange = async (
      message: SmtpMessage,
      departure: Departure,
      progress: CarrierProgress,
    ): Promise<SmtpResult> => {
      const mode = weather.now();
      await clock.sleep(chance.whole(1, 300));
      if (mode === "down") return broken("connect", "the server refused the connection", false);
      departure.ask();
      if (!(await progress.mayStillSend())) return { kind: "withdrawn" };
      departure.talk();
      await clock.sleep(chance.whole(1, 800));
      if (mode === "crawl") await clock.sleep(CRAWL_MS);
      const refusal = mode === null ? undefined : REFUSALS[mode];
      if (refusal !== undefined) return refused(...refusal);
      if (options.isUnknown(message.to)) {
        departure.bounce();
        return refused("rcpt-to", 550, "5.1.1", "no such user here");
      }
      if (mode === "stall" && chance.happens(0.5)) {
        await clock.sleep(STALL_MS.command);
        return broken("data", "no reply in time", false);
      }
      departure.mark();
      await progress.transmitting();
      await clock.sleep(chance.whole(1, 200));
      // The last byte.
      const isTaken = mode !== "lose";
      const receipt = isTaken ? departure.arrive() : null;
      await clock.sleep(chance.whole(1, 1500));
      if (mode === "stall") await clock.sleep(STALL_MS.afterDot);
      if (mode === "cut" || mode === "lose" || mode === "stall")
        return broken("final-dot", "the connection broke", true);
      receipt?.know();
      const reply = toReply("final-dot", 250, "2.0.0", "queued");
      return { kind: "accepted", reply: { ...reply, serverId: "q1" } };
    };
    const send = async (message: SmtpMessage, progress: CarrierProgress): Promise<SmtpResult> => {
      const text = Buffer.from(message.bytes).toString("utf8");
      const departure = postbox.begin("email", message.to, text);
      try {
        return await exchange(message, departure, progress);
      } finally {
        departure.end();
      }
    };
    return { send, close: () => Promise.resolve() };
  };
}

function toReply(stage: SmtpStage, code: number | null, enhancedCode: string | null, text: string): SmtpReply {
  return { stage, code, enhancedCode, text, host: "mail.example", serverId: null, ms: 1 };
}

function refused(...words: Parameters<typeof toReply>): SmtpResult {
  return { kind: "refused", reply: toReply(...words) };
}

function broken(stage: SmtpStage, text: string, isPastDot: boolean): SmtpResult {
  return { kind: "broken", reply: toReply(stage, null, null, text), isPastDot };
}
