import { unixSeconds, type Clock } from "../../runtime/clock.ts";
import type { DeliveryProgress, DeliveryResult, MessageSender } from "../domain/delivery/sender.ts";
import type { DueReply, FrozenMessage, Store } from "../domain/ports.ts";
import { localDay } from "../domain/windows/day.ts";
import type { GatewayReply, GatewayTransport } from "../delivery/sms/gateway-transport.ts";
import { isAllowedCountry, readZone, type SegmentBudget, type SmsLimits, spend, toSmsMessage } from "./sms-sender.ts";

export interface ReplySenderOptions {
  readonly store: Store;
  readonly clock: Clock;
  readonly transport: Pick<GatewayTransport, "send">;
  readonly limits: SmsLimits;
  readonly budget: SegmentBudget;
  readonly compose: (reply: DueReply) => Promise<FrozenMessage>;
}

const AT_ONCE = 8;
const AGE_MAX_SECONDS = 900;
const RETRY_SECONDS = [20, 120, 300] as const;

const DROPPED: DeliveryResult = { kind: "cancelled", reason: "not sent" };

export function createReplySender(options: ReplySenderOptions): MessageSender {
  return {
    name: "replies",
    channels: ["reply"],
    asksFirst: true,
    capacity: () => AT_ONCE,
    deliver: (reply, progress) => {
      if (reply.channel !== "reply") throw new TypeError("only replies are sent here");
      return sendReply(options, reply, progress);
    },
  };
}

async function sendReply(
  { store, clock, transport, limits, budget, compose }: ReplySenderOptions,
  reply: DueReply,
  progress: DeliveryProgress,
): Promise<DeliveryResult> {
  const { phoneNumber, project, kind, createdAt } = reply;
  const now = unixSeconds(clock);
  if (phoneNumber === null || now - createdAt > AGE_MAX_SECONDS) return DROPPED;
  if (!limits.mayReceive(phoneNumber) || !isAllowedCountry(limits, phoneNumber)) return DROPPED;
  const frozen = reply.frozen ?? (await compose(reply));
  const segments = Number(frozen.values.segments);
  const day = localDay(now, await readZone(store, project)).name;
  // The confirmation of a STOP is sent even if the budget is used up.
  const isTaken = await budget.take(project, day, segments);
  if (!isTaken && kind !== "stopped") return DROPPED;
  const message = toSmsMessage(phoneNumber, frozen);
  const giveBack = (): void => (isTaken ? budget.giveBack(project, day, segments) : undefined);
  return spend({ segments, giveBack }, progress, async (marking) => {
    const sent = await transport.send(message, { ...marking, transmitting: () => marking.transmitting(frozen) });
    return sent.kind === "withdrawn" ? DROPPED : toResult(reply, sent.reply, unixSeconds(clock));
  });
}

function toResult(
  { attempts, createdAt }: DueReply,
  { meaning, ...attempt }: GatewayReply,
  now: number,
): DeliveryResult {
  const { outcome } = meaning;
  if (outcome === "sent" || outcome === "unknown") return { kind: outcome, attempt };
  const delaySeconds = RETRY_SECONDS[attempts] ?? AGE_MAX_SECONDS;
  if (outcome === "retry" && now + delaySeconds - createdAt <= AGE_MAX_SECONDS)
    return { kind: "retry", delaySeconds, attempt };
  return { kind: "failed", reason: "the gateway refused it", attempt };
}
