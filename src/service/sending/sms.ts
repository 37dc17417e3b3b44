import { replySms, type SmsSender, surveySms } from "../delivery/message/survey-sms.ts";
import type { PacedSender } from "./pacing/paced-transport.ts";
import type { SmsMode } from "../delivery/sms/formats.ts";
import { canBeTexted, type SmsGateway } from "../delivery/sms/gateway.ts";
import { GatewayTransport } from "../delivery/sms/gateway-transport.ts";
import { toSmsText } from "../delivery/sms/segments.ts";
import { createReplySender } from "./reply-sender.ts";
import type { MessageSender } from "../domain/delivery/sender.ts";
import { openSmsSender, SegmentBudget, type SmsLimits } from "./sms-sender.ts";
import { releaseAll } from "../domain/delivery/oversight.ts";
import type { DueSurvey, FrozenMessage } from "../domain/ports.ts";
import { readPresentation, shownName } from "../domain/projects/presentation.ts";
import { readSurveyWords } from "../domain/surveys/survey-words.ts";
import { allowing, createWarnOnce, followHealth } from "./sender-log.ts";
import type { MailTools } from "./mail.ts";

export interface SmsOptions {
  readonly gateway: SmsGateway;
  readonly mode: SmsMode;
  readonly limits: Omit<SmsLimits, "mayReceive">;
  readonly onlyTo: string | null;
  readonly linkUrl: string | null;
}

export interface SmsTools extends Omit<MailTools, "readContext" | "makeDigest"> {
  readonly appUrl: () => string;
  readonly senderName: string | null;
}

export interface SmsDelivery {
  readonly sender: PacedSender;
  readonly replies: MessageSender;
}

const CONNECTIONS = 4;
const RATE = { count: 10, perSeconds: 1 } as const;
const ID_BYTES = 16;

export async function openSmsDelivery(options: SmsOptions & SmsTools): Promise<SmsDelivery> {
  const { gateway, store, clock, random, log, mode, linkUrl, appUrl, wake, onError } = options;
  const limits = { ...options.limits, mayReceive: allowing(options.onlyTo) };
  const warnOnce = createWarnOnce(log);
  const budget = new SegmentBudget({ daily: limits.daily, store, onError });
  const readSender = async ({ project, properties }: Pick<DueSurvey, "project" | "properties">): Promise<SmsSender> => {
    const presentation = await store.read((tx) => readPresentation(tx, project));
    const { productName } = readSurveyWords(properties, presentation);
    const name = shownName(presentation, project, { senderName: options.senderName, productName });
    return { sender: name ?? new URL(appUrl()).hostname, presentation };
  };
  const freeze = (words: string): FrozenMessage => {
    const { text, segments } = toSmsText(words);
    return { messageId: random.token(ID_BYTES), bounceToken: null, values: { text, segments, from: gateway.from } };
  };
  // The limits may have changed since the last start, so postponed texts are checked again.
  await releaseAll(store, (tx, limit) => tx.deliveries.releasePutOff(limit, "sms"));
  const sender = await openSmsSender({
    transport: new GatewayTransport(gateway, clock),
    connections: CONNECTIONS,
    rate: RATE,
    store,
    clock,
    random,
    limits,
    budget,
    process: options.process,
    wake,
    onError,
    freeze: async (due) => {
      const place = { appUrl: linkUrl ?? appUrl(), mode, canReply: canBeTexted(gateway.from) };
      return freeze(surveySms(due, { ...(await readSender(due)), ...place }));
    },
    onLong: ({ id, name }, segments) => {
      const message = `texts of project ${name} take ${segments} segments each`;
      warnOnce(String(id), "sms_long", { project: name, segments, message });
    },
    onChange: followHealth(options, {
      name: "sms",
      place: { gateway: new URL(gateway.url).host },
      // The gateway might quote the number.
      mask: (said) => said.replaceAll(/\d{5,}/g, "…"),
    }),
  });
  const replies = createReplySender({
    store,
    clock,
    // A separate transport, so replies don't have to wait for a mailing.
    transport: new GatewayTransport(gateway, clock),
    limits,
    budget,
    compose: async (reply) => freeze(replySms(reply, await readSender(reply))),
  });
  return { sender, replies };
}
