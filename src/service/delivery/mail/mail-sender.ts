/** The scheduler's sender of mail: a connection's turn, the rate, the sender's health, and what a reply leads to. */
import type { JsonObject } from "../../../contract/json.ts";
import { replaceText } from "../../../contract/replace-text.ts";
import { unixSeconds, type Clock } from "../../../runtime/clock.ts";
import type { Random } from "../../../runtime/random.ts";
import { retryOrGiveUp } from "../../domain/delivery/deliveries.ts";
import type {
  AttemptFacts,
  DeliveryOutcome,
  DeliveryProgress,
  DeliveryResult,
  MessageSender,
} from "../../domain/delivery/sender.ts";
import type { DueSurvey, FrozenMessage, SenderState } from "../../domain/ports.ts";
import { classifyReply, type ReplyMeaning } from "./classify-reply.ts";
import { maskReply } from "./parse-reply.ts";
import { createAlarm, type Alarm } from "../smtp/alarm.ts";
import { admit, HEALTHY_SENDER, nextSenderHealth, restoreSenderHealth } from "./sender-health.ts";
import type { HealthStep, SenderEvent, SenderHealth, ServerAnswer } from "./sender-health.ts";
import type { SmtpMessage, SmtpReply, SmtpResult, SmtpStage, SmtpTransport } from "../smtp/smtp-types.ts";
import { FULL_BUCKET, reserve, type BucketLevel, type SmtpRate } from "./token-bucket.ts";

export interface RenderedMail {
  readonly message: SmtpMessage;
  readonly frozen: FrozenMessage;
}

export interface SmtpSenderOptions {
  readonly transport: SmtpTransport;
  /** As many as the transport has. */
  readonly connections: number;
  readonly rate: SmtpRate;
  readonly clock: Clock;
  readonly random: Pick<Random, "fraction">;
  /** The same message each time, from what was frozen the first time. */
  readonly render: (due: DueSurvey) => Promise<RenderedMail>;
  /** Messages to other addresses are held. */
  readonly mayReceive: (address: string) => boolean;
  readonly load: () => Promise<SenderState | null>;
  readonly save: (state: SenderState) => Promise<void>;
  /** There may be room for messages again. */
  readonly wake: () => void;
  /** Called whenever the mode of the sender changes; `isHealed` when a breaker has closed and held messages may go. */
  readonly onChange: (health: SenderHealth, isHealed: boolean) => void;
  readonly onError: (error: unknown) => void;
}

/** One mail of whatever kind. */
export interface OutgoingMail extends Pick<DueSurvey, "attempts" | "firstAttemptAt"> {
  /** Tells it from others in what the sender remembers. */
  readonly key: string;
  readonly address: string;
  /** The same message each time. */
  readonly render: () => Promise<RenderedMail>;
}

export interface SmtpSender extends MessageSender {
  /** As `deliver`, for a mail that is no survey. */
  readonly deliverMail: (mail: OutgoingMail, progress: DeliveryProgress) => Promise<DeliveryResult>;
  readonly resume: () => void;
  readonly health: () => SenderHealth;
  /** Lets messages in flight end, within bounds, and stores how full the bucket is. */
  readonly close: () => Promise<void>;
}

/** Messages in hand at most; more would only wait for the same connections. */
const IN_HAND_MAX = 64;
const SAVE_MS = 10_000;
const AFTER_PROBE_SECONDS = 15;
const BEFORE_RECIPIENT: ReadonlySet<SmtpStage> = new Set(["connect", "ehlo", "starttls", "auth", "mail-from"]);

/** Goes on where the last process ended: a sender that was stopped is still stopped, and the bucket is not full. */
export async function openSmtpSender(options: SmtpSenderOptions): Promise<SmtpSender> {
  const sender = new MailSending(options, await options.load());
  return {
    name: "smtp",
    channels: ["email"],
    capacity: (seconds) => sender.capacity(seconds),
    resume: () => void sender.tell({ kind: "resume" }),
    deliver: async (due, progress) => {
      const address = due.person.email;
      if (address === null) return { kind: "failed", reason: "the person has no email address" };
      const { attempts, firstAttemptAt } = due;
      const render = (): Promise<RenderedMail> => options.render(due);
      const key = `${due.project.id}/${due.requestId}`;
      return sender.deliver({ key, address, attempts, firstAttemptAt, render }, progress);
    },
    deliverMail: (mail, progress) => sender.deliver(mail, progress),
    erase: () => Promise.resolve(0),
    health: () => sender.health,
    close: () => sender.close(),
  };
}

class MailSending {
  health: SenderHealth;
  readonly #options: SmtpSenderOptions;
  readonly #alarm: Alarm;
  readonly #waiting: (() => void)[] = [];
  #bucket: BucketLevel;
  #turns: number;
  #saving: Promise<void> | null = null;
  #savedMs = 0;

  constructor(options: SmtpSenderOptions, stored: SenderState | null) {
    this.#options = options;
    this.#alarm = createAlarm(options.clock);
    this.#turns = options.connections;
    this.#bucket = stored === null ? FULL_BUCKET : { level: stored.level, at: stored.levelAt };
    this.health = stored === null ? HEALTHY_SENDER : toHealth(stored, options.clock.now());
    if (this.health.mode !== "open") this.#wakeWhenDue();
  }

  capacity(seconds: number): number {
    const { rate, clock } = this.#options;
    const { mode, until } = this.health;
    if (mode === "open")
      return Math.max(1, Math.min(IN_HAND_MAX, Math.floor((rate.count / rate.perSeconds) * seconds)));
    return mode === "half-open" || (until !== null && until <= clock.now()) ? 1 : 0;
  }

  async deliver(mail: OutgoingMail, progress: DeliveryProgress): Promise<DeliveryResult> {
    if (!this.#options.mayReceive(mail.address))
      return { kind: "held", reason: "mail to this address is not allowed here" };
    await this.#turn();
    try {
      return await this.#deliverInTurn(mail, progress);
    } finally {
      this.#turns += 1;
      this.#waiting.shift()?.();
    }
  }

  tell(event: SenderEvent): Omit<HealthStep, "state"> {
    const { state, ...step } = nextSenderHealth(this.health, event, this.#options.clock.now());
    this.#become(state);
    return step;
  }

  async close(): Promise<void> {
    this.#alarm.clear();
    await this.#options.transport.close();
    await this.#saving;
    await this.#save();
  }

  async #deliverInTurn(mail: OutgoingMail, progress: DeliveryProgress): Promise<DeliveryResult> {
    const { clock, transport } = this.#options;
    const { signal } = progress;
    signal.throwIfAborted();
    const { message, frozen } = await mail.render();
    // The token itself is taken later; here nobody holds a connection while there is none.
    await this.#sleepUntil(reserve(this.#options.rate, this.#bucket, clock.now()).departures[0] ?? 0, signal);
    const domain = domainOf(mail.address);
    const { state, admission } = admit(this.health, domain, clock.now());
    this.#become(state);
    // While the sender waits it has no room, so what is due may stay so; a domain's messages would come back at once.
    if (admission.kind === "wait")
      return { kind: "released", delaySeconds: admission.scope === "domain" ? this.#secondsUntil(admission.until) : 0 };
    const { epoch } = admission;
    const token = { isTaken: false };
    try {
      const result = await transport.send(message, {
        mayStillSend: async () => {
          if (!token.isTaken) await this.#takeToken(signal);
          token.isTaken = true;
          return progress.mayStillSend();
        },
        transmitting: () => progress.transmitting(frozen),
      });
      return this.#settle(mail, result, epoch);
    } catch (error) {
      this.tell({ kind: "released", epoch });
      throw error;
    }
  }

  #settle(mail: OutgoingMail, result: SmtpResult, epoch: number): DeliveryResult {
    const { address } = mail;
    if (result.kind === "withdrawn" || result.kind === "unsendable") {
      this.tell({ kind: "released", epoch });
      // A withdrawn message is settled already.
      if (result.kind === "withdrawn") return { kind: "cancelled", reason: "withdrawn" };
      return { kind: "failed", reason: result.reply.text, attempt: factsOf(result.reply) };
    }
    const { reply } = result;
    const { reason: _reason, domain: backsDomainOff, ...meaning } = meaningOf(result);
    // What is known of the sender outlives the recipient.
    const words = { text: replaceText(reply.text, address, "<address>"), maskedText: maskReply(reply.text, address) };
    const message = BEFORE_RECIPIENT.has(reply.stage) ? null : mail.key;
    const answer = { ...meaning, ...words, message, domain: domainOf(address), backsDomainOff };
    const { isHeld, isOdd } = this.tell({ kind: "answer", answer, epoch });
    if (this.#options.clock.monotonic() - this.#savedMs > SAVE_MS) this.#saveSoon();
    const outcome: DeliveryOutcome = isHeld
      ? { kind: "held", reason: reply.text }
      : this.#outcomeOf(mail, isOdd ? { ...answer, sender: "none" } : answer, reply);
    return { ...outcome, attempt: factsOf(reply) };
  }

  #outcomeOf(mail: OutgoingMail, answer: ServerAnswer, { stage, text }: SmtpReply): DeliveryOutcome {
    const { outcome, sender, afterSeconds } = answer;
    // The sender's trouble: the message keeps its attempts, and goes out as soon as the sender is well. One whose
    // recipient was named lets another be the probe.
    if (sender !== "none" && outcome !== "unknown" && (outcome === "retry" || BEFORE_RECIPIENT.has(stage)))
      return { kind: "released", delaySeconds: answer.message === null ? 0 : this.#secondsAfterProbe() };
    if (outcome === "failed" || outcome === "held") return { kind: outcome, reason: text };
    if (outcome !== "retry") return { kind: outcome };
    const { clock, random } = this.#options;
    const slow = this.health.domains[answer.domain];
    const leastSeconds = Math.max(afterSeconds ?? 0, slow === undefined ? 0 : this.#secondsUntil(slow.until));
    return retryOrGiveUp(mail, { now: unixSeconds(clock), fraction: random.fraction(), leastSeconds });
  }

  #become(next: SenderHealth): void {
    const before = this.health;
    this.health = next;
    if (next.mode === before.mode && next.needsAnswer === before.needsAnswer) return;
    const isHealed = next.mode === "open" && (before.mode === "breaker" || before.probes === "breaker");
    this.#options.onChange(next, isHealed);
    this.#saveSoon();
    this.#wakeWhenDue();
  }

  #wakeWhenDue(): void {
    const { mode, until } = this.health;
    const { clock, wake } = this.#options;
    if (mode === "open") wake();
    else if (until !== null) this.#alarm.set(Math.max(0, until - clock.now()), wake);
  }

  async #takeToken(signal: AbortSignal): Promise<void> {
    const { bucket, departures } = reserve(this.#options.rate, this.#bucket, this.#options.clock.now());
    this.#bucket = bucket;
    await this.#sleepUntil(departures[0] ?? 0, signal);
  }

  async #sleepUntil(at: number, signal: AbortSignal): Promise<void> {
    const ms = at - this.#options.clock.now();
    if (ms > 0) await this.#options.clock.sleep(ms, signal);
  }

  #secondsAfterProbe(): number {
    const { until } = this.health;
    return AFTER_PROBE_SECONDS + (until === null ? 0 : this.#secondsUntil(until));
  }

  #secondsUntil(at: number): number {
    return Math.max(1, Math.ceil((at - this.#options.clock.now()) / 1000));
  }

  #turn(): Promise<void> {
    this.#turns -= 1;
    if (this.#turns >= 0) return Promise.resolve();
    return new Promise((resolve) => void this.#waiting.push(resolve));
  }

  #saveSoon(): void {
    this.#saving ??= this.#save().finally(() => {
      this.#saving = null;
    });
  }

  /** Until nothing has changed meanwhile. */
  async #save(): Promise<void> {
    const { clock, save, onError } = this.#options;
    this.#savedMs = clock.monotonic();
    const saved = this.health;
    try {
      await save(toStored(saved, this.#bucket));
    } catch (error) {
      onError(error);
      return;
    }
    if (saved.epoch !== this.health.epoch) await this.#save();
  }
}

type Answered = Exclude<SmtpResult, { kind: "withdrawn" | "unsendable" }>;
type Meaning = Omit<ReplyMeaning, "outcome" | "sender"> & Pick<ServerAnswer, "outcome" | "sender">;

const NOTHING = {
  sender: "none",
  domain: false,
  strike: false,
  afterSeconds: null,
  reason: "unknown",
  hasAddressCode: false,
} as const;

function meaningOf(result: Answered): Meaning {
  const { stage, code, ...words } = result.reply;
  if (result.kind === "accepted") return { ...NOTHING, outcome: "sent" };
  if (stage !== "final-dot") return classifyReply({ ...words, stage, code });
  if (code !== null) return classifyReply({ ...words, stage, code });
  // A server that loses messages past the dot would make each of them unknown.
  return { ...NOTHING, outcome: "unknown", sender: "back-off" };
}

function toStored(health: SenderHealth, { level, at }: BucketLevel): SenderState {
  const { mode, reason, since, until } = health;
  const states = { open: "ready", "backing-off": "waiting", "half-open": "waiting", breaker: "held" } as const;
  return {
    level,
    levelAt: at,
    state: states[mode],
    reason,
    since: since === null ? null : Math.floor(since / 1000),
    nextProbeAt: until === null ? null : Math.ceil(until / 1000),
    memory: health as unknown as JsonObject,
  };
}

/** An operator who resumes while nothing runs changes the time of the next probe, and nothing else. */
function toHealth({ memory, nextProbeAt }: SenderState, now: number): SenderHealth {
  const kept = restoreSenderHealth({ ...HEALTHY_SENDER, ...(memory as unknown as Partial<SenderHealth> | undefined) });
  const expected = kept.until === null ? null : Math.ceil(kept.until / 1000);
  const isResumed = nextProbeAt !== null && nextProbeAt !== expected;
  return isResumed ? nextSenderHealth(kept, { kind: "resume" }, now).state : kept;
}

function factsOf({ stage, code, enhancedCode, text, host, serverId, ms }: SmtpReply): AttemptFacts {
  return { stage, code, enhancedCode, text, host, serverId, ms };
}

function domainOf(address: string): string {
  return address.slice(address.lastIndexOf("@") + 1).toLowerCase();
}
