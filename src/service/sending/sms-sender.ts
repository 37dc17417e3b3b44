import { replaceText } from "../domain/privacy/erase.ts";
import { unixSeconds } from "../../runtime/clock.ts";
import type { DeliveryProgress, DeliveryResult } from "../domain/delivery/sender.ts";
import type { Project } from "../domain/inputs.ts";
import type { DueQuestion, FrozenMessage, Store } from "../domain/ports.ts";
import { readSettings } from "../domain/projects/settings.ts";
import { localDay, quietUntil } from "../domain/windows/day.ts";
import { recipientZones } from "../domain/sms/recipient-zones.ts";
import type { QuietHours } from "../domain/windows/windows.ts";
import {
  type PacedSender,
  type Composed,
  PacedTransport,
  type PacedTransportOptions,
} from "./pacing/paced-transport.ts";
import type { SmsMessage } from "../delivery/sms/providers/provider.ts";
import type { GatewayReply } from "../delivery/sms/gateway-transport.ts";
import { asOneLine } from "../delivery/smtp/smtp-types.ts";

export interface SmsLimits {
  /** Maximum segments per project and day, including replies. */
  readonly daily: number;
  readonly maxSegments: number;
  /** Prefixes such as `+49`; null allows every country. */
  readonly countries: readonly string[] | null;
  readonly quiet: QuietHours | null;
  readonly mayReceive: (phoneNumber: string) => boolean;
}

interface SegmentBudgetOptions {
  readonly daily: number;
  readonly store: Store;
  readonly onError: (error: unknown) => void;
}

/** Shared by all processes. If a process is killed, the segments it had reserved are lost for that day. */
export class SegmentBudget {
  readonly #options: SegmentBudgetOptions;

  constructor(options: SegmentBudgetOptions) {
    this.#options = options;
  }

  /** Reserves segments; returns false if the rest of the day's budget is too small. */
  take({ id }: Project, day: string, segments: number): Promise<boolean> {
    const { store, daily } = this.#options;
    return store.write(
      async ({ texts }) => {
        const taken = await texts.segmentsOn(id, takenOn(day));
        const used = Math.max(taken, await texts.segmentsOn(id, day));
        if (used + segments > daily) return false;
        await texts.addSegments(id, takenOn(day), used + segments - taken);
        return true;
      },
      { project: id },
    );
  }

  giveBack({ id }: Project, day: string, segments: number): void {
    const { store, onError } = this.#options;
    store.write(({ texts }) => texts.addSegments(id, takenOn(day), -segments), { project: id }).catch(onError);
  }
}

/** The key for segments that any process has reserved; sent segments have a separate key. */
function takenOn(day: string): string {
  return `${day} taken`;
}

export interface SmsSenderOptions extends Omit<PacedTransportOptions<SmsMessage, GatewayReply>, "name" | "interpret"> {
  readonly limits: SmsLimits;
  readonly budget: SegmentBudget;
  readonly freeze: (due: DueQuestion) => Promise<FrozenMessage>;
  readonly onLong: (project: Project, segments: number) => void;
}

interface Checked {
  readonly frozen: FrozenMessage;
  readonly segments: number;
  readonly day: string;
}

export async function openSmsSender(options: SmsSenderOptions): Promise<PacedSender> {
  const { budget } = options;
  const transport = await PacedTransport.open<SmsMessage, GatewayReply>({
    ...options,
    name: "sms",
    interpret: ({ reply }) => reply.meaning,
  });
  return transport.toSender({
    channels: ["sms", "sms-reminder"],
    deliver: async (due, progress) => {
      if (due.channel !== "sms" && due.channel !== "sms-reminder") throw new TypeError("only texts are sent here");
      const found = await check(options, due);
      if ("kind" in found) return found;
      const { frozen, segments, day } = found;
      const giveBack = (): void => budget.giveBack(due.project, day, segments);
      const sendText = (marking: DeliveryProgress): Promise<DeliveryResult> =>
        transport.send(due, async () => compose(due, frozen), marking);
      return shorten(await spend({ segments, giveBack }, progress, sendText));
    },
  });
}

/** Returns the reserved segments unless the message was sent, or may have been. */
export async function spend(
  { segments, giveBack }: { readonly segments: number; readonly giveBack: () => void },
  progress: DeliveryProgress,
  send: (progress: DeliveryProgress) => Promise<DeliveryResult>,
): Promise<DeliveryResult> {
  const state = { hasGone: false };
  const transmitting = async (frozen?: FrozenMessage): Promise<void> => {
    await progress.transmitting(frozen);
    state.hasGone = true;
  };
  try {
    const result = await send({ ...progress, transmitting });
    state.hasGone = result.kind === "sent" || result.kind === "unknown";
    return state.hasGone ? { ...result, segments } : result;
  } finally {
    if (!state.hasGone) giveBack();
  }
}

export function toSmsMessage(to: string, { messageId, values: { text } }: FrozenMessage): SmsMessage {
  return { to, text: typeof text === "string" ? text : "", id: messageId };
}

function compose({ person, token }: DueQuestion, frozen: FrozenMessage): Composed<SmsMessage> {
  const to = person.phoneNumber ?? "";
  return {
    message: toSmsMessage(to, frozen),
    frozen,
    // Empty, because a gateway's back-offs apply to all numbers.
    domain: "",
    redact: (words) => replaceText(replaceText(words, to.slice(1), "<number>"), token, "<token>"),
    mask: (words) => words.replaceAll(to.slice(1), "").replaceAll(/\d+/g, "0"),
  };
}

const REASON_MAX = 200;

function shorten(result: DeliveryResult): DeliveryResult {
  if (result.kind !== "failed" && result.kind !== "held") return result;
  const { code = null, enhancedCode = null } = result.attempt ?? {};
  if (code === null) return result;
  const said = asOneLine(result.reason).slice(0, REASON_MAX);
  return { ...result, reason: [`the gateway answered ${code}`, enhancedCode, said].filter(Boolean).join(", ") };
}

/** Runs before a message waits for its turn. Postpones or holds a message that can't be sent now. */
async function check(options: SmsSenderOptions, due: DueQuestion): Promise<Checked | DeliveryResult> {
  const { limits, budget, clock, store, onLong } = options;
  const { phoneNumber } = due.person;
  if (phoneNumber === null) return { kind: "failed", reason: "the person has no phone number" };
  if (!limits.mayReceive(phoneNumber)) return { kind: "held", reason: "texts to this number are not allowed here" };
  if (!isAllowedCountry(limits, phoneNumber)) return { kind: "held", reason: "texts to this country are not allowed" };
  const now = unixSeconds(clock);
  const zone = await readZone(store, due.project);
  const { quiet } = limits;
  const end = quiet === null ? null : quietUntil(now, quiet, recipientZones(phoneNumber, zone, now));
  if (quiet !== null && end !== null) {
    const reason = `quiet hours until ${quiet.to}:00 ${end.zone}`;
    return { kind: "released", delaySeconds: end.at - now, reason, isEarly: true };
  }
  const frozen = due.frozen ?? (await options.freeze(due));
  const segments = Number(frozen.values.segments);
  if (segments > 1) onLong(due.project, segments);
  if (segments > limits.maxSegments)
    return { kind: "held", reason: `the text takes ${segments} segments, more than ${limits.maxSegments}` };
  const day = localDay(now, zone);
  if (await budget.take(due.project, day.name, segments)) return { frozen, segments, day: day.name };
  const reason = `the project's ${limits.daily} segments of ${day.name} are used up`;
  return { kind: "released", delaySeconds: day.nextAt - now, reason, isEarly: true };
}

export async function readZone(store: Store, project: Project): Promise<string | null> {
  return store.read(async (tx) => (await readSettings(tx, project)).timeZone);
}

export function isAllowedCountry({ countries }: Pick<SmsLimits, "countries">, phoneNumber: string): boolean {
  return countries === null || countries.some((prefix) => phoneNumber.startsWith(prefix));
}
