import { unixSeconds, type Clock } from "../../runtime/clock.ts";
import type { DeliveryProgress, DeliveryResult, MessageSender } from "../domain/delivery/sender.ts";
import type { DueReply, FrozenMessage } from "../domain/ports.ts";
import { localDay } from "../domain/sms/day.ts";
import type { GatewayReply, GatewayTransport } from "../delivery/sms/gateway-transport.ts";
import { isAllowedCountry, type SegmentBudget, type SmsLimits, spend } from "./sms-sender.ts";

export interface ReplySenderOptions {
  readonly clock: Clock;
  readonly transport: GatewayTransport;
  readonly limits: SmsLimits;
  readonly budget: SegmentBudget;
  readonly zoneOf: (project: DueReply["project"]) => Promise<string | null>;
  readonly compose: (reply: DueReply) => Promise<FrozenMessage>;
}

const AT_ONCE = 8;
const AGE_MAX_SECONDS = 900;
const RETRY_SECONDS = [20, 120, 300] as const;

export function createReplySender(options: ReplySenderOptions): MessageSender {
  return {
    name: "replies",
    channels: ["reply"],
    asksFirst: true,
    capacity: () => AT_ONCE,
    deliver: async (due, progress) => {
      if (due.channel !== "reply") throw new TypeError("only replies are sent here");
      return sendReply(options, due, progress);
    },
  };
}

const DROPPED: DeliveryResult = { kind: "cancelled", reason: "not sent" };

async function sendReply(
  options: ReplySenderOptions,
  reply: DueReply,
  progress: DeliveryProgress,
): Promise<DeliveryResult> {
  const { clock, transport, limits, budget, zoneOf, compose } = options;
  const { phoneNumber, project, kind, createdAt } = reply;
  const now = unixSeconds(clock);
  if (phoneNumber === null || now - createdAt > AGE_MAX_SECONDS) return DROPPED;
  if (!limits.mayReceive(phoneNumber) || !isAllowedCountry(limits, phoneNumber)) return DROPPED;
  const frozen = reply.frozen ?? (await compose(reply));
  const segments = Number(frozen.values.segments);
  const day = localDay(now, await zoneOf(project)).name;
  // A reply that confirms STOP is sent whatever it costs.
  const isTaken = await budget.take(project, day, segments);
  if (!isTaken && kind !== "stopped") return DROPPED;
  const message = { to: phoneNumber, text: textOf(frozen), id: frozen.messageId };
  const giveBack = (): void => (isTaken ? budget.giveBack(project, day, segments) : undefined);
  return spend({ segments, giveBack }, progress, async (marking) => {
    const sent = await transport.send(message, { ...marking, transmitting: () => marking.transmitting(frozen) });
    return sent.kind === "withdrawn" ? DROPPED : toResult(reply, sent.reply, unixSeconds(clock));
  });
}

function textOf({ values: { text } }: FrozenMessage): string {
  return typeof text === "string" ? text : "";
}

function toResult({ attempts, createdAt }: DueReply, reply: GatewayReply, now: number): DeliveryResult {
  const { meaning, stage, code, enhancedCode, text, host, serverId, ms } = reply;
  const attempt = { stage, code, enhancedCode, text, host, serverId, ms };
  const { outcome } = meaning;
  if (outcome === "sent" || outcome === "unknown") return { kind: outcome, attempt };
  const delaySeconds = RETRY_SECONDS[attempts] ?? AGE_MAX_SECONDS;
  if (outcome === "retry" && now + delaySeconds - createdAt <= AGE_MAX_SECONDS)
    return { kind: "retry", delaySeconds, attempt };
  return { kind: "failed", reason: "the gateway refused it", attempt };
}
